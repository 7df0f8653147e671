#!/usr/bin/env bash
# Verifies a folder of release files: the signature of SHA256SUMS, then every file, and that no file is unlisted.
#
# verify-release.sh FOLDER SIGNERS    SIGNERS: a file with a line "release ssh-ed25519 AAAA...", from a place you trust
set -euo pipefail
folder=${1:?the folder of release files} signers=$(realpath "${2:?a file of allowed signers}")
cd "$folder"
ssh-keygen -q -Y verify -f "$signers" -I release -n tidewatch-release -s SHA256SUMS.sig <SHA256SUMS
sha256sum --check --strict --quiet SHA256SUMS
unlisted=$(comm -13 <(cut -c67- SHA256SUMS | sort) <(find . -type f -printf '%P\n' | grep -vx 'SHA256SUMS\(\.sig\)\?' | sort))
[ -z "$unlisted" ] || { echo "not in SHA256SUMS: $unlisted" >&2; exit 1; }
echo "$folder: every file is as it was signed"
