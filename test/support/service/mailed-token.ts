/** The token in a mail of the service, which stands on a line of its own. */
export function tokenIn(text: string): string {
  const [, token] = /\n([\w-]{43})(\n|$)/.exec(text) ?? []
  if (token === undefined) throw new Error(`there is no token in ${JSON.stringify(text)}`)
  return token
}
