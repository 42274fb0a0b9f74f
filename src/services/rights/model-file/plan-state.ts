/**
 * The state that a plan is based on: digests of model and names, of roles and policies, of databases and of the file.
 */
import type { AccessRecords } from '../../../core/file/access/records.ts'
import { exportModel } from '../../../core/file/export/model.ts'
import { exportNames, type NameRecord } from '../../../core/file/presentation/names.ts'
import { printModelFile } from '../../../core/file/print.ts'
import { sortedText } from '../../../core/file/sorted-json.ts'
import type { Model, ModelRecords, SourceRecord } from '../../../core/model/model.ts'
import { sqlProviders } from '../../../core/sql/address.ts'
import { inParts } from '../../../sources/in-parts.ts'
import type { WorkspaceRow } from '../../../store/workspaces.ts'
import { sha256Hex } from '../../caller/digest.ts'

const parts = ['model', 'access', 'drift', 'file'] as const

export type PlanPart = (typeof parts)[number]
export type PlanState = Readonly<Record<Exclude<PlanPart, 'drift'>, string>>

/** Hexadecimal digits of each digest. */
const LENGTH = 24

type StateOf = {
  readonly workspace: WorkspaceRow
  readonly before: Model
  readonly access: AccessRecords | undefined
  readonly names: readonly NameRecord[] | undefined
  readonly sent: unknown
}

export async function stateOf({ workspace, before, access, names, sent }: StateOf): Promise<PlanState> {
  const own = await inParts(exportModel(before, workspace.apiName))
  const exportedNames = exportNames(names ?? [], before)
  const text = await inParts(printModelFile({ ...own, ...(exportedNames.size > 0 && { names: exportedNames }) }))
  return {
    model: await digest(`${workspace.id} ${text}`),
    access: await digest(await inParts(sortedText(access ?? null))),
    file: await digest(await inParts(sortedText(sent))),
  }
}

/** Digest of the catalogs of the sources that a plan changes; `outline` returns the digest of one source. */
export async function driftOf(
  touched: readonly string[],
  outline: (source: SourceRecord) => Promise<string>,
  { sources }: ModelRecords,
): Promise<string> {
  const seen: string[] = []
  for (const source of sources) {
    const hasCatalog = sqlProviders.some((provider) => provider === source.provider)
    if (hasCatalog && touched.includes(source.id)) seen.push(`${source.id} ${await outline(source)}`)
  }
  return digest(seen.join())
}

export function textOf(state: Readonly<Record<PlanPart, string>>): string {
  return parts.map((part) => state[part]).join('.')
}

/** The parts in which `state` differs from the plan; an invalid plan differs in all parts. */
export function movedSince(plan: string, state: Partial<Readonly<Record<PlanPart, string>>>): readonly PlanPart[] {
  const known = plan.split('.')
  return parts.filter((part, at) => state[part] !== undefined && state[part] !== known[at])
}

async function digest(text: string): Promise<string> {
  return (await sha256Hex(text)).slice(0, LENGTH)
}
