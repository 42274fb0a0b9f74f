/**
 * Remembers for each model in memory and source the digest of the catalog with which an import finds nothing to change. While
 * both are the same, the next import need not read the schema. The key is the model object: a model that was read again, has
 * another version, or belongs to another release has no entry.
 */
import type { ModelRecords } from '../../core/model/model.ts'
import type { SkippedTable } from '../../core/sql/source-schema.ts'
import { sha256Hex } from '../caller/digest.ts'

/** An import of a catalog with this digest changes nothing; `skipped` are the tables that the model leaves out. */
export type Agreement = { readonly digest: string; readonly skipped: readonly SkippedTable[] }

export type Agreements = {
  known(records: ModelRecords, sourceId: string): Agreement | undefined
  keep(records: ModelRecords, sourceId: string, agreement: Agreement): void
}

export function createAgreements(): Agreements {
  const agreed = new WeakMap<ModelRecords, Map<string, Agreement>>()
  return {
    known: (records, sourceId) => agreed.get(records)?.get(sourceId),
    keep(records, sourceId, agreement) {
      const ofModel = agreed.get(records) ?? new Map<string, Agreement>()
      agreed.set(records, ofModel.set(sourceId, agreement))
    },
  }
}

/** Hashes a digest, which may be as long as a catalog; undefined stays undefined. */
export async function shortened(digest: string | undefined): Promise<string | undefined> {
  return digest === undefined ? undefined : sha256Hex(digest)
}
