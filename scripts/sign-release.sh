#!/usr/bin/env bash
# Signs a folder of release files: provenance.json lists their sources, SHA256SUMS has the checksum of every file,
# SHA256SUMS.sig is its SSH signature. scripts/verify-release.sh verifies them.
#
# sign-release.sh FOLDER KEY    KEY: a private SSH key (ed25519), or a public one whose private half ssh-agent holds
set -euo pipefail
folder=${1:?the folder of release files} key=${2:?an SSH key}
root=$(cd "$(dirname "$0")/.." && pwd)
sum() { sha256sum "$1" | cut -d' ' -f1; }

rm -f "$folder"/{SHA256SUMS,SHA256SUMS.sig,provenance.json}
[ -z "$(find "$folder" -mindepth 1 -not -type f -print -quit)" ] || { echo "$folder holds more than files" >&2; exit 1; }

# An in-toto statement with a SLSA provenance predicate. It is as trustworthy as the machine it is made on.
subjects=()
for file in "$folder"/*; do
  subjects+=("{\"name\": \"$(basename "$file")\", \"digest\": {\"sha256\": \"$(sum "$file")\"}}")
done
cat >"$folder/provenance.json" <<EOF
{
  "_type": "https://in-toto.io/Statement/v1",
  "subject": [
    $(IFS=,; sed 's/},{/},\n    {/g' <<<"${subjects[*]}")
  ],
  "predicateType": "https://slsa.dev/provenance/v1",
  "predicate": {
    "buildDefinition": {
      "buildType": "scripts/release.sh",
      "externalParameters": {"commit": "$(git -C "$root" rev-parse HEAD)"},
      "resolvedDependencies": [
        {"name": "Cargo.lock", "digest": {"sha256": "$(sum "$root/Cargo.lock")"}},
        {"name": "web/package-lock.json", "digest": {"sha256": "$(sum "$root/web/package-lock.json")"}},
        {"name": "$(rustc --version)"},
        {"name": "node $(node --version)"}
      ]
    },
    "runDetails": {"builder": {"id": "scripts/release.sh"}}
  }
}
EOF
(cd "$folder" && sha256sum -- * >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS)
ssh-keygen -q -Y sign -f "$key" -n tidewatch-release "$folder/SHA256SUMS"
echo "$folder: $(wc -l <"$folder/SHA256SUMS") files, signed"
