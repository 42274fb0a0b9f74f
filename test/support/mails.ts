/** The mails that the served instance has sent. */
import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import type { Received } from './mail-servers.ts'
import { world } from './world.ts'

export const mails = { to, arrived }

/** All that arrived at this address so far. */
async function to(address: string): Promise<readonly Received[]> {
  const text = await readFile(world.mailFile, 'utf8').catch(() => '')
  const all = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Received)
  return all.filter((mail) => mail.to.includes(address))
}

/** The text of the last mail to this address, once there are `count` with such a subject. */
async function arrived(address: string, subject: RegExp, count = 1): Promise<string> {
  const some = async () => (await to(address)).filter((mail) => subject.test(mail.subject))
  await expect.poll(async () => (await some()).length).toBeGreaterThanOrEqual(count)
  return (await some()).at(-1)?.text ?? ''
}
