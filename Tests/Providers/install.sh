#!/usr/bin/env bash
# Installs the OpenID providers and the browser that RealProviderTests run against; the tests are skipped without them.
set -euo pipefail
cd "$(dirname "$0")/../.."
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" -eq 0 ]; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(cat Tests/Providers/packages.txt) >/dev/null
fi
# A place of their own: what they need must not change what the other tests use.
python3 -m venv .build/providers
.build/providers/bin/pip install --quiet --disable-pip-version-check -r Tests/Providers/requirements.txt
