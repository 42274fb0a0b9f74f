/** The mails that the served instance has sent. */
import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import type { Received } from '../servers/mail-servers.ts'
import { world } from './world.ts'

export const mails = { to, arrived }

/** Milliseconds, far more than a mail takes on a busy machine. */
const LATEST = 30_000

/** All that arrived at this address so far. */
async function to(address: string): Promise<readonly Received[]> {
  const text = await readFile(world.mailFile, 'utf8').catch(() => '')
  const all = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Received)
  return all.filter((mail) => mail.to.some((other) => other.toLowerCase() === address.toLowerCase()))
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
