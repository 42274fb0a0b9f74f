/**
 * Writes through a many-to-many field (decision 057): adds rows of the junction that link an item to rows of the other side, or
 * finds them for deletion. Faults name the path in the request; faults of the junction name the missing column.
 */
import { linkRows } from '../access/access.ts'
import type { PrimitiveField, RelationField, Through } from '../model/model.ts'
import type { Parts } from '../parts.ts'
import { all, and, type Filter, none } from '../query/filter.ts'
import { queryFault, type RawFilter } from '../query/parse.ts'
import { addAgreement, impliedIds, impliedRelations, nameIn, otherwise } from './agreement.ts'
import { cellOf, foreignKey, linkedCells, linkIds } from './cells.ts'
import type { WantedRows } from './key-runs.ts'
import { relatedAccess, usableField } from './names.ts'
import type { Cell, Slot } from './plan.ts'
import { addChecks, addFind, addStep, conditionsOf, contextOf, type Program, requireKey } from './program.ts'
import { addFilledIn, addReferences, findReferences, uniqueSets } from './program-references.ts'
import type { LocatedBody } from './relation-operation.ts'
import { createAssignments, isRequired } from './values.ts'
import { boundingFilter } from './where.ts'

/** The links of one item by one field. */
export type Links = { readonly relation: RelationField; readonly through: Through; readonly owner: Slot }

/**
 * Links the item to the rows of the keys, which must exist. With a unique key over both sides of the junction, an existing link
 * stays as it is.
 */
export function* connectLinks(
  program: Program,
  links: Links,
  { keys, path }: { readonly keys: readonly LocatedBody[]; readonly path: string },
): Parts<void> {
  const { far } = links.through
  const [first] = keys
  if (first === undefined) return
  const wanted = [far.joins.map(({ other }) => other)]
  const search = { keys, wanted, provided: links.owner, lock: 'reference' } as const
  const unless = linkKey(links.through)
  for (const { slot, keys: found } of yield* findReferences(program, far.target, search)) {
    agreeOnLink(program, links, { slot, path })
    for (const key of found) {
      yield
      addLink(program, links, { cells: cellsOf(far, key, slot), path: first.path, unless })
    }
  }
}

/** Requires that both sides give the same value to a shared column of the junction. */
export function agreeOnLink(
  program: Program,
  { through: { near, far }, owner }: Links,
  { slot, path }: { readonly slot: Slot; readonly path: string },
): void {
  for (const { own, other } of far.joins) {
    const given = near.joins.find((join) => join.other === own)
    if (given === undefined) continue
    const column = `${nameIn(program.viewer, near.target, own) ?? 'a column'} of ${near.target.apiName}`
    addAgreement(program, {
      slot,
      cells: [{ field: other, value: { kind: 'kept', slot: owner, field: given.own } }],
      where: none,
      provided: owner,
      path,
      reason: otherwise(column, 'is given by the item that it is linked to as well'),
    })
  }
}

/** The far columns of a link, from the key if it has them; otherwise from its slot, which then has only that row. */
function cellsOf(far: RelationField, key: WantedRows['keys'][number], slot: Slot): readonly Cell[] {
  if (key === undefined) return foreignKey(far, slot)
  return far.joins.map(({ own, other }) => cellOf({ field: own, value: key.get(other) ?? null }))
}

/** The columns of both sides, if they are unique in the junction. */
function linkKey({ near, far }: Through): readonly PrimitiveField[] | undefined {
  const columns = [...new Set([...near.joins.map(({ other }) => other), ...far.joins.map(({ own }) => own)])]
  const isUnique = uniqueSets(near.target).some((set) => set.every((field) => columns.includes(field)))
  return isUnique ? columns : undefined
}

/** Adds a row of the junction with these far columns, unless a row with the same values in `unless` exists. */
export function addLink(
  program: Program,
  { through: { near, far }, owner }: Links,
  link: {
    readonly cells: readonly Cell[]
    readonly path: string
    readonly unless: readonly PrimitiveField[] | undefined
  },
): void {
  const { cells: ends, path, unless } = link
  const junction = near.target
  const context = contextOf(program, junction, 'create')
  requireKey(junction, path)
  usableField(context, far.apiName, path)
  const linked = new Map(
    [...linkedCells(near, owner), ...ends].map((cell): [PrimitiveField, Cell] => [cell.field, cell]),
  )
  const missing = junction.primitives.find((field) => !linked.has(field) && isRequired(field))
  if (missing !== undefined) {
    throw queryFault(path, `cannot be linked alone: ${junction.apiName} requires ${missing.apiName}`)
  }
  const elsewhere = new Set([...linked.keys()].map(({ id }) => id))
  const cells = [...linked.values(), ...createAssignments(context, {}, path, elsewhere).map(cellOf)]
  const into = program.slot(junction)
  const given = [...linked.values()]
  const named = [near, far]
  const names = given.map(({ field }) => field.apiName)
  const search = { collection: junction, names, except: named, cells, provided: owner, absent: undefined }
  const filledIn = addReferences(program, search)
  addStep(program, { kind: 'insert', into, cells, provided: owner, absent: undefined, unless, unique: undefined })
  addFilledIn(program, into, filledIn)
  const implied = impliedIds(context.access, impliedRelations(junction, { named, given }))
  addChecks(program, into, conditionsOf(program, context, [far.id, ...linkIds(near), ...implied]))
}

/** Finds the links to rows that meet the filter, among those that the caller may follow. */
export function findLinks(
  program: Program,
  { relation, through: { near, far }, owner }: Links,
  { filter: raw, path }: { readonly filter: RawFilter | undefined; readonly path: string },
): Slot {
  const { viewer } = program
  requireKey(near.target, path)
  const { rows } = relatedAccess(viewer, far.target)
  const filter = raw === undefined ? all : boundingFilter(viewer, far.target, { filter: raw, path })
  const leading: Filter = { kind: 'related', relation: far, target: far.target, quantifier: 'some', rows, filter }
  const where = and([linkRows(viewer, relation) ?? none, leading])
  return addFind(program, near.target, { matches: linkedCells(near, owner), where })
}
