#!/bin/sh
# Puts another version of cordon in place, and goes back by itself where the new one does not answer.
#
#   sudo sh upgrade.sh NEW-BINARY
#
# What else it takes from the environment: UPGRADE_BINARY, UPGRADE_CONFIG, UPGRADE_BACKUPS, UPGRADE_USER, UPGRADE_READY (the address of
# /readyz) and UPGRADE_SECONDS (how long to wait for it).
set -eu

new=${1:?usage: upgrade.sh NEW-BINARY}
installed=${UPGRADE_BINARY:-/usr/local/bin/cordon}
config=${UPGRADE_CONFIG:-/etc/cordon/service.json}
backups=${UPGRADE_BACKUPS:-/var/backups/cordon}
ready=${UPGRADE_READY:-http://127.0.0.1:9464/readyz}
user=${UPGRADE_USER:-cordon}

say() { echo "upgrade: $*" >&2; }
as_service() { if [ "$(id -un)" = "$user" ]; then "$@"; else setpriv --reuid "$user" --regid "$user" --init-groups "$@"; fi; }
answers() {
    tries=${UPGRADE_SECONDS:-60}
    while [ "$tries" -gt 0 ]; do
        if curl -sf -o /dev/null "$ready"; then return 0; fi
        tries=$((tries - 1))
        sleep 1
    done
    return 1
}

# Nothing is changed before the new version has read the settings and a backup is there that it can read as well.
say "from $("$installed" --version) to $("$new" --version)"
as_service "$new" serve config check --offline --config "$config" > /dev/null
backup="$backups/before-upgrade-$(date +%Y%m%dT%H%M%S)"
as_service "$installed" backup --config "$config" --to "$backup" > /dev/null
as_service "$new" restore --verify "$backup" > /dev/null
say "backup: $backup"

cp -p "$installed" "$installed.before"
install -m 0755 "$new" "$installed.new"
mv "$installed.new" "$installed"
systemctl restart cordon || true
if answers; then
    say "done; $installed.before is the version from before"
    exit 0
fi

say "the new version does not answer; going back"
cp -p "$installed.before" "$installed.new"
mv "$installed.new" "$installed"
systemctl restart cordon || true
if answers; then
    say "the version from before answers again"
else
    say "it does not answer either: if the new one has changed the store, restore $backup into an empty folder (docs/operating.md, section 7)"
fi
exit 1
