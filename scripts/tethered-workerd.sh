#!/bin/sh
# workerd that ends with the process that started it, even when that is killed: the fifo is then at its end. The
# directory of both goes away after it.
# Started by tether.ts in place of the real binary.
exec 9<"$TETHER_DIRECTORY/fifo"
(read -r _ <&9; kill -KILL $$; rm -rf "$TETHER_DIRECTORY") </dev/null >/dev/null 2>&1 3>&- &
exec "$TETHER_BINARY" "$@" 9<&-
