/**
 * docs/contract.md#history: a service that is killed by SIGKILL behind any message of a write leaves no change without its entry, and
 * no entry without its change.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startReplica } from '../migration/support/instance.ts'
import { effort } from '../support/run/effort.ts'
import { client } from '../support/service/client.ts'
import { type KilledService, openKilledService } from './killed-service.ts'

/** How many services are killed; those of the quick tier behind messages that are far from each other. */
const [KILLS, STRIDE] = effort() === 'full' ? [45, 1] : [3, 9]

let service: KilledService

beforeAll(async () => {
  service = await openKilledService(['authors', 'articles'])
  await service.steady.kill()
})

afterAll(() => service?.close())

it('has each change and its entry, or neither', { timeout: 900_000 }, async () => {
  const { instance, proxy } = service
  let kills = 0
  let messages = 0
  const outcomes = new Set<number>()
  for (let tries = 0; kills < KILLS && tries < 2 * KILLS; tries += 1) {
    const key = crypto.randomUUID()
    const victim = await startReplica(instance, { SERVICE_DATABASE_URL: proxy.url })
    const at = client(`${victim.url}/api/killed`, { Authorization: `Bearer ${await service.tokenAt(victim)}` })
    // What a caller is allowed is read before, so that the next transaction is the write.
    await at.get('/items/articles?limit=1')
    const reached = proxy.cutAfter(messages, 'service.actor')

    const sent = at.post('/items/articles', [
      { title: key, author: { _create: { data: { name: key } } } },
      { title: `${key} too` },
    ])
    const isCut = await Promise.race([reached.then(() => true), sent.then(() => false)])
    await victim.kill()
    await sent.catch(() => undefined)
    proxy.calm()

    const [rows, entries] = await settled(key)
    expect(entries, `killed behind message ${messages}`).toBe(rows)
    expect([0, 3]).toContain(rows)
    outcomes.add(rows)
    kills += isCut ? 1 : 0
    messages = isCut ? messages + STRIDE : 0
  }

  console.log(`${kills} kills`)
  expect(kills).toBe(KILLS)
  expect(outcomes.has(0)).toBe(true)
})

/** Rows and entries of a write, once no transaction of the one that was killed is left. */
async function settled(key: string): Promise<readonly [rows: number, entries: number]> {
  const { database } = service.instance
  const text = (sql: string) => database.query({ text: sql, params: [] })
  const others = `select count(*) from pg_stat_activity where datname = current_database()
    and pid <> pg_backend_pid() and state <> 'idle' and backend_type = 'client backend'`
  await expect.poll(async () => (await text(others))[0]?.[0], { timeout: 20_000 }).toBe('0')
  const [row] = await database.query({
    text: `select (select count(*) from service_killed_data.articles where title like $1)
        + (select count(*) from service_killed_data.authors where name like $1),
      (select count(*) from service_killed_meta.change where after::text like $2 and before is null)`,
    params: [`${key}%`, `%${key}%`],
  })
  return [Number(row?.[0]), Number(row?.[1])]
}
