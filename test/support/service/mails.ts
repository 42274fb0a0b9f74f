/** The mails that the served instance has sent. */
import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import type { Received } from '../servers/mail-servers.ts'
import { world } from './world.ts'

export const mails = { to, arrived }

/** Milliseconds, far more than a mail takes on a busy machine. */
const LATEST = 30_000

const known: Received[] = []
/** How much of the file they are. */
let length = 0

/** All that arrived at this address so far. */
async function to(address: string): Promise<readonly Received[]> {
  const text = await readFile(world.mailFile, 'utf8').catch(() => '')
  const lines = text.slice(length, text.lastIndexOf('\n') + 1)
  known.push(...lines.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Received])))
  length += lines.length
  return known.filter((mail) => mail.to.some((other) => other.toLowerCase() === address.toLowerCase()))
}

/** The text of the last mail to this address, once there are `count` with such a subject. */
async function arrived(address: string, subject: RegExp, count = 1): Promise<string> {
  const some = async () => (await to(address)).filter((mail) => subject.test(mail.subject))
  const deadline = Date.now() + LATEST
  for (let found = await some(); ; found = await some()) {
    if (found.length >= count) return found.at(-1)?.text ?? ''
    if (Date.now() > deadline) throw new Error(`${found.length} of ${count} mails ${subject} arrived at ${address}`)
    await wait(20)
  }
}
