/**
 * Remembers in which state of a database an import has nothing to change of a model. As long as both are the same, the
 * next import need not read the schema. Only for models in memory: one that was read again, or has another version, is
 * another one, and so is every model of another release.
 */
import type { ModelRecords } from '../../core/model/model.ts'
import type { SkippedTable } from '../../core/sql/source-schema.ts'
import { sha256Hex } from '../caller/digest.ts'

/** Of a source whose catalog has this digest, these tables are left out and all else is in the model. */
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

/** A digest may be as long as a catalog; undefined stays undefined. */
export async function shortened(digest: string | undefined): Promise<string | undefined> {
  return digest === undefined ? undefined : sha256Hex(digest)
}
