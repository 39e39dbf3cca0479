#!/bin/sh
set -eu
python3 build.py
