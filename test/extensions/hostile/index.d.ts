export function setup(): { introspect(): readonly string[] }
