/** The keys that sign access tokens. */
import { takeAdvisoryLock } from '../core/sql/postgres/advisory-locks.ts'
import type { SqlDriver } from '../ports/database.ts'
import { param, sql, statement } from './statements.ts'

export type SigningKeyRow = { readonly id: string; readonly publicJwk: string; readonly sealedPrivateJwk: string }

/** Returns all signing keys, the newest first. */
export async function loadSigningKeys(database: SqlDriver): Promise<readonly SigningKeyRow[]> {
  const rows = await database.query(
    statement(sql`select id, public_jwk, sealed_private_jwk from service.signing_key order by created_at desc, id`),
  )
  return rows.map(([id, publicJwk, sealedPrivateJwk]) => ({
    id: id ?? '',
    publicJwk: publicJwk ?? '',
    sealedPrivateJwk: sealedPrivateJwk ?? '',
  }))
}

/**
 * Stores `key` unless a signing key exists. A concurrent second caller stores nothing and reads the first one's key.
 */
export async function insertFirstSigningKey(database: SqlDriver, key: SigningKeyRow): Promise<void> {
  await database.batch([
    takeAdvisoryLock('signingKey'),
    statement(sql`
      insert into service.signing_key (id, public_jwk, sealed_private_jwk)
      select ${param(key.id)}, ${param(key.publicJwk)}::jsonb, ${param(key.sealedPrivateJwk)}
      where not exists (select 1 from service.signing_key)`),
  ])
}
