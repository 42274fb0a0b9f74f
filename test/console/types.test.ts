/** Values of every type in attached databases: typed, cleared, pasted and undone in the grid, and compared in SQL. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { gridOf, signedInAt } from '../support/service/console-page.ts'
import { world } from '../support/service/world.ts'
import { cellsOf, paste } from './support/cells.ts'

let servers: SourceServers

beforeAll(async () => {
  servers = await startSourceServers()
})

afterAll(() => servers?.close())

/** Its type, what is typed or pasted, the key that commits it, and what SQL says of it. */
type Column = readonly [type: string, typed: string, stored: string, commit?: string]
type Columns = Readonly<Record<string, Column>>

const uuid = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'

/** Those that both have, by the same name. */
const both: Columns = {
  short: ['smallint', '-12', '-12'],
  price: ['numeric(20,4)', '12345678901234.5678', '12345678901234.5678'],
  ratio: ['double precision', '0.1', '0.1'],
  day: ['date', '2026-01-31', '2026-01-31'],
  hour: ['time(6)', '13:45:00.123456', '13:45:00.123456'],
}

const postgres: Columns = {
  ...both,
  words: ['text', 'A "text" <b>', 'A "text" <b>'],
  whole: ['integer', '2147483647', '2147483647'],
  long: ['bigint', '9007199254740993', '9007199254740993'],
  flag: ['boolean', 'true', 'true'],
  uid: ['uuid', uuid, uuid],
  at: ['timestamp', '2026-01-31T13:45:00.000001', '2026-01-31 13:45:00.000001'],
  moment: ['timestamptz', '2026-01-31T13:45:00+02:00', '2026-01-31 11:45:00'],
  mood: ['mood', 'glad', 'glad'],
  data: ['jsonb', '{"a":[1,null]}', '{"a": [1, null]}', 'Control+Enter'],
  tags: ['text[]', '["x","y z"]', '{x,"y z"}', 'Control+Enter'],
}

const mysql: Columns = {
  ...both,
  words: ['varchar(80)', 'A "text" <b>', 'A "text" <b>'],
  large: ['bigint unsigned', '18446744073709551615', '18446744073709551615'],
  flag: ['boolean', 'true', '1'],
  at: ['datetime(6)', '2026-01-31T13:45:00.000001', '2026-01-31 13:45:00.000001'],
  mood: ["enum('sad', 'glad')", 'glad', 'glad'],
}

const cases = [
  ['postgres', postgres, "create type mood as enum ('sad', 'glad')", 'text'],
  ['mysql', mysql, 'select 1', 'char'],
] as const

it.each(cases)('are exactly what SQL says in %s', async (provider, columns, before, textType) => {
  const { config, run } = servers[provider]
  const names = Object.keys(columns)
  const typed = Object.values(columns).map(([, text]) => text)
  const nothing = names.map(() => null)
  await run(
    before,
    `create table things (id int primary key, ${names.map((name) => `${name} ${columns[name]?.[0]} null`).join()})`,
    'insert into things (id) values (1), (2)',
  )
  const shown = names.map((name) => {
    const value = columns[name]?.[0] === 'timestamptz' ? `${name} at time zone 'UTC'` : name
    return `cast(${value} as ${textType})`
  })
  const rows = () => run(`select ${shown.join()} from things order by id`)
  const whole = Object.values(columns).map(([, , stored]) => stored)
  const shop = await world.workspace('types', {})
  const made = await shop.post('/sources/data', { apiName: 'own', provider, config })
  const { data } = (await made.json()) as { data: { id: string } }
  expect((await shop.send('POST', `/schema/introspect/${data.id}`)).status).toBe(200)
  const page = await signedInAt(`${gridOf(shop, 'things')}?sort=id`)
  await page.getByRole('grid').waitFor()
  const { goTo, type } = cellsOf(['id', ...names])
  const undo = async (times: number) => {
    await page.getByRole('grid').focus()
    for (let at = 0; at < times; at += 1) await page.keyboard.press('Control+Z')
  }

  for (const name of names) await type(page, name, columns[name]?.[1] ?? '', columns[name]?.[3])
  await expect.poll(rows, { timeout: 60_000 }).toEqual([whole, nothing])
  await undo(names.length)
  await expect.poll(rows, { timeout: 60_000 }).toEqual([nothing, nothing])

  const line = typed.map((text) => (text.includes('"') ? `"${text.replaceAll('"', '""')}"` : text)).join('\t')
  await goTo(page, names[0] ?? '', 1)
  await paste(page, line)
  await expect.poll(rows).toEqual([nothing, whole])

  await goTo(page, names[0] ?? '', 1)
  await page.keyboard.press('Shift+End')
  await page.keyboard.press('Delete')
  await expect.poll(rows).toEqual([nothing, nothing])
  await undo(1)
  await expect.poll(rows).toEqual([nothing, whole])
  await undo(1)
  await expect.poll(rows).toEqual([nothing, nothing])
  await page.context().close()
})
