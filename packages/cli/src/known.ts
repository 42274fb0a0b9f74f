/**
 * The services that somebody trusts with what says who they are: those that they have signed in to, named or agreed to.
 * `governed.json` may be of somebody else's repository, and lead anywhere.
 */
import { join } from 'node:path'
import type { Call } from './command.ts'
import type { Project } from './connection.ts'
import { Failure, wrongCall } from './failure.ts'
import { parseJson, readText, writeText } from './written-file.ts'

/**
 * Throws where `url` is none of them and nobody agrees now that `what` is sent there. An address in a variable is named by
 * whoever runs the command.
 */
export async function requireKnown(
  { host, terminal, switches }: Pick<Call, 'host' | 'terminal' | 'switches'>,
  { credentials, home, file }: Project,
  { url, what }: { readonly url: string; readonly what: string },
): Promise<void> {
  if (originOf(host.env.GOVERNED_URL ?? '') === originOf(url) || (await credentials.isFor(originOf(url)))) return
  if ((await loadKnown(home)).includes(originOf(url))) return
  const text = `${file.path} leads to ${url}, where you have not been yet. Send ${what} there?`
  const flag = `GOVERNED_URL=${url}, where that is meant`
  if (switches.has('yes')) throw wrongCall(text, `say ${flag}`)
  if (!(await terminal.confirm({ text, flag }))) throw new Failure('nothing was sent')
  await keepKnown(home, url)
}

/** `home`: the folder of the file. */
export async function keepKnown(home: string, url: string): Promise<void> {
  const all = new Set([...(await loadKnown(home)), originOf(url)])
  await writeText(fileIn(home), `${JSON.stringify([...all].sort(), null, 2)}\n`, { mode: 0o600 })
}

const fileIn = (home: string) => join(home, 'known.json')

async function loadKnown(home: string): Promise<readonly string[]> {
  const text = await readText(fileIn(home))
  return text === undefined ? [] : (parseJson(fileIn(home), text) as readonly string[])
}

const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : url)
