/**
 * Random statements of others between two looks at a database: the digest of its catalog is another one wherever the
 * schema that an import would read is, and the same while nothing has happened. Templates name what they change:
 * `{t}` a table, `{u}` another, `{c}` and `{d}` columns, `{n}` a number.
 */
import fc from 'fast-check'
import { expect } from 'vitest'
import { SqlFault } from '../../../src/core/sql/fault.ts'
import type { SqlDriver } from '../../../src/ports/database.ts'
import { catalogDigest, readCatalog } from '../../../src/sources/catalog.ts'
import type { SourceDatabase } from '../../../src/sources/provider.ts'
import { casesOr } from '../../support/run/cases.ts'
import { seed } from './seed.ts'

export type Digested = {
  /** Reads the catalog, as the user of a source. */
  readonly database: SourceDatabase
  /** Changes it. */
  readonly others: SqlDriver
  /** By what they change, for the report of those that never did anything. */
  readonly kinds: Readonly<Record<string, readonly string[]>>
  /** What is random in a template, each with its values. */
  readonly names: Readonly<Record<string, readonly string[]>>
}

/** Statements between the first look and the last. */
const LENGTH = casesOr(1_500, { least: 500 })

type Step = { readonly kind: string; readonly text: string }

/** Returns the kinds of statements that changed what an import reads. */
export async function followDigests(digested: Digested): Promise<ReadonlySet<string>> {
  const { database, others } = digested
  const effective = new Set<string>()
  const digests = new Map<string, string>()
  let before = await look(database)
  for (const { kind, text } of steps(digested)) {
    if (!(await run(others, text))) continue
    const now = await look(database)
    const known = digests.get(now.digest) ?? now.schema

    expect({ text, schema: now.schema }, `seed ${seed}: a digest that another schema had`).toEqual({
      text,
      schema: known,
    })
    digests.set(now.digest, now.schema)
    if (now.schema !== before.schema) effective.add(kind)
    before = now
  }
  return effective
}

async function look(database: SourceDatabase): Promise<{ readonly schema: string; readonly digest: string }> {
  const { driver, catalog } = database
  const ask = (statement: Parameters<SqlDriver['query']>[0]) => driver.query(statement)
  const rows = await ask(catalog.statement({ kind: 'all' }))
  const { schema, digest } = await readCatalog(database, rows, ask)
  const alone = await ask(catalog.digest.statement({ kind: 'all' }))
  expect(await catalogDigest(database, { rows: alone, depth: 'all' }, ask)).toBe(digest)
  return { schema: JSON.stringify(schema), digest }
}

/** Statements that do not apply are refused, and change nothing. */
async function run(driver: SqlDriver, text: string): Promise<boolean> {
  try {
    await driver.query({ text, params: [] })
    return true
  } catch (cause) {
    if (!(cause instanceof SqlFault)) throw cause
    return false
  }
}

function steps({ kinds, names }: Digested): readonly Step[] {
  const picks = fc.record(
    Object.fromEntries(Object.entries(names).map(([name, all]) => [name, fc.constantFrom(...all)])),
  )
  const step = fc.constantFrom(...Object.keys(kinds)).chain((kind) =>
    fc.tuple(fc.constantFrom(...(kinds[kind] ?? [])), picks).map(([template, chosen]) => ({
      kind,
      text: template.replaceAll(/\{(\w+)\}/g, (_, name: string) => chosen[name] ?? ''),
    })),
  )
  return fc.sample(step, { numRuns: LENGTH, seed })
}
