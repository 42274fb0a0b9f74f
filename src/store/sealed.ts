/** All texts in the system database that the vault has sealed, and how to replace one of them. */
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { metaSchema } from './installation.ts'
import { ident, param, type Sql, sql, statement } from './statements.ts'

export type SealedText =
  | { readonly kind: 'signingKey'; readonly id: string; readonly sealed: string }
  | { readonly kind: 'provider'; readonly id: string; readonly sealed: string }
  | { readonly kind: 'assistant'; readonly id: string; readonly sealed: string }
  | {
      readonly kind: 'secret'
      readonly id: string
      readonly workspaceId: string
      readonly name: string
      readonly sealed: string
    }
  | { readonly kind: 'source'; readonly id: string; readonly workspace: string; readonly sealed: string }

/** Returns every sealed text with its location. */
export async function listSealed(database: SqlDriver): Promise<readonly SealedText[]> {
  const read = (fragment: Sql) => database.query(statement(fragment))
  const found: SealedText[] = []
  for (const [id, sealed] of await read(sql`select id::text, sealed_private_jwk from service.signing_key`)) {
    found.push({ kind: 'signingKey', id: id ?? '', sealed: sealed ?? '' })
  }
  for (const [id, sealed] of await read(sql`select id, sealed_client_secret from service.provider`)) {
    found.push({ kind: 'provider', id: id ?? '', sealed: sealed ?? '' })
  }
  for (const [id, sealed] of await read(
    sql`select id, sealed_key from service.assistant_settings where sealed_key is not null`,
  )) {
    found.push({ kind: 'assistant', id: id ?? '', sealed: sealed ?? '' })
  }
  for (const [id, workspaceId, name, sealed] of await read(
    sql`select id, workspace_id, name, sealed_value from service.secret`,
  )) {
    found.push({ kind: 'secret', id: id ?? '', workspaceId: workspaceId ?? '', name: name ?? '', sealed: sealed ?? '' })
  }
  for (const [name] of await read(sql`select api_name from service.workspace order by api_name`)) {
    const workspace = name ?? ''
    for (const [id, sealed] of await read(sql`
      select id, sealed_credentials from ${ident(metaSchema(workspace), 'data_source')}
      where sealed_credentials is not null`)) {
      found.push({ kind: 'source', id: id ?? '', workspace, sealed: sealed ?? '' })
    }
  }
  return found
}

/** Replaces a sealed text unless it was changed meanwhile; one result row means it was replaced. */
export function replaceSealed(one: SealedText, sealed: string): Statement {
  const [table, column] = placeOf(one)
  return statement(sql`
    update ${table} set ${column} = ${param(sealed)}
    where id::text = ${param(one.id)} and ${column} = ${param(one.sealed)} returning 1`)
}

function placeOf(one: SealedText): readonly [Sql, Sql] {
  switch (one.kind) {
    case 'signingKey':
      return [sql`service.signing_key`, sql`sealed_private_jwk`]
    case 'provider':
      return [sql`service.provider`, sql`sealed_client_secret`]
    case 'assistant':
      return [sql`service.assistant_settings`, sql`sealed_key`]
    case 'secret':
      return [sql`service.secret`, sql`sealed_value`]
    case 'source':
      return [ident(metaSchema(one.workspace), 'data_source'), sql`sealed_credentials`]
    default:
      return one satisfies never
  }
}
