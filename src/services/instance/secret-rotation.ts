/**
 * Seals all sealed texts again with the first secret of SERVICE_SECRET. Repeatable, and safe while the service runs: a
 * text is replaced only if it has not changed since it was read.
 */
import type { Vault } from '../../ports/accounts.ts'
import type { SqlDriver } from '../../ports/database.ts'
import { listSealed, replaceSealed, type SealedText } from '../../store/sealed.ts'
import { secretPurpose as valuePurpose } from '../../store/secrets.ts'
import { secretPurpose as clientPurpose } from '../accounts/providers.ts'
import { keyPurpose } from '../assistant/settings.ts'
import { VAULT_PURPOSE } from '../caller/signing-keys.ts'
import { sourcePurpose } from '../model/source-settings.ts'

export type Rotation = {
  readonly total: number
  readonly resealed: number
  /** Number of texts that changed meanwhile; the next run checks them again. */
  readonly superseded: number
  /** Texts that none of the secrets opens; left unchanged. */
  readonly unreadable: readonly string[]
}

/** Calls `onProgress` with the number of finished texts after each one. */
export async function rotateSecrets(
  { database, vault }: { readonly database: SqlDriver; readonly vault: Vault },
  onProgress: (done: number, total: number) => void,
): Promise<Rotation> {
  const all = await listSealed(database)
  const unreadable: string[] = []
  let [resealed, superseded] = [0, 0]
  for (const [index, one] of all.entries()) {
    try {
      const fresh = await vault.reseal(purposeOf(one), one.sealed)
      if (fresh !== undefined) {
        const rows = await database.query(replaceSealed(one, fresh))
        if (rows.length === 1) resealed += 1
        else superseded += 1
      }
    } catch (error) {
      if (!(error instanceof Error) || !/sealed text/.test(error.message)) throw error
      unreadable.push(`${one.kind} ${one.id}`)
    }
    onProgress(index + 1, all.length)
  }
  return { total: all.length, resealed, superseded, unreadable }
}

function purposeOf(one: SealedText): string {
  switch (one.kind) {
    case 'signingKey':
      return VAULT_PURPOSE
    case 'provider':
      return clientPurpose(one.id)
    case 'assistant':
      return keyPurpose(one.id)
    case 'secret':
      return valuePurpose(one.workspaceId, one.name)
    case 'source':
      return sourcePurpose(one.id)
    default:
      return one satisfies never
  }
}
