/** Names as MariaDB and MySQL quote them. */

/** A pattern of one quoted name. */
export const QUOTED_NAME = '`(?:[^`]|``)*`'

export function quotedName(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``
}

export function unquotedName(quoted: string): string {
  return quoted.slice(1, -1).replaceAll('``', '`')
}
