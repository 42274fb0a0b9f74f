/**
 * The rules of docs/contract.md#how-policies-act and decision 012 over rows in memory, as naively as can be and without
 * a line of the core: what a caller reads, whether a write is refused and with which status, and what it leaves behind.
 * A write is carried out step by step in the order in which the rules tell it.
 */
import { operatorHolds, ordered, type Truth } from '../../property/support/oracle.ts'
import type { Arguments, Request, Tree } from '../../property/support/request.ts'
import type { Row, Rows } from '../../property/support/rows.ts'
import { type Link, links, membersOf, type Name, now, shop } from './library.ts'
import type { ActionName, Caller, Policy } from './policies.ts'
import type { Write } from './writes.ts'

export type Answer =
  | { readonly status: 200; readonly data: readonly Row[]; readonly total?: number }
  | { readonly status: 403 | 404 | 422 }

export type Limits = { readonly default: number; readonly max: number }

export type Naive = {
  list(collection: Name, request: Request, limits: Limits): Answer
  /** The rows afterwards are the rows before where it is refused. */
  write(write: Write): { readonly answer: Answer; readonly rows: Rows }
  /** Members that some policy allows for this. */
  members(collection: Name, action: ActionName): ReadonlySet<string>
  /** Whether some policy speaks of it. */
  isAllowed(collection: Name, action: ActionName): boolean
  isReadable(collection: Name, row: Row): boolean
  isSeen(collection: Name, row: Row, member: string): boolean
}

class Refusal extends Error {
  readonly status: 403 | 404 | 422

  constructor(status: 403 | 404 | 422) {
    super(String(status))
    this.status = status
  }
}

function demand(condition: boolean, status: 403 | 404 | 422): void {
  if (!condition) throw new Refusal(status)
}

type Grant = { readonly fields: ReadonlySet<string>; readonly filter: Tree; readonly validation: Tree }
type State = Record<Name, Row[]>

/** Whose eyes a filter looks through. */
type Eyes = {
  readonly value: (collection: Name, row: Row, field: string) => unknown
  /** Undefined where the relation itself is hidden in this row. */
  readonly related: (collection: Name, row: Row, relation: string) => readonly Row[] | undefined
}

export function naiveRules(policies: readonly Policy[], caller: Caller, rows: Rows): Naive {
  const speaking = policies.filter(
    ({ collections }) => caller.userId !== undefined || !JSON.stringify(collections).includes('"$CURRENT_USER"'),
  )
  let state = copyOf(rows)

  function grants(collection: Name, action: ActionName): readonly Grant[] {
    const everything = { fields: new Set(membersOf(collection)), filter: {}, validation: {} }
    return speaking.flatMap(({ collections }) => {
      const part = collections[collection]?.[action]
      if (part === undefined) return []
      if (part === 'all') return [everything]
      const { fields = '*', filter = {}, validation = {} } = part
      return [{ fields: fields === '*' ? everything.fields : new Set(fields), filter, validation }]
    })
  }

  const everybody: Eyes = {
    value: (_, row, field) => row[field],
    related: (collection, row, relation) => joined(collection, row, relation),
  }
  const callers: Eyes = {
    value: (collection, row, field) => (isSeen(collection, row, field) ? row[field] : null),
    related(collection, row, relation) {
      if (!isSeen(collection, row, relation)) return undefined
      const target = targetOf(collection, relation)
      return joined(collection, row, relation).filter((one) => isReadable(target, one))
    },
  }

  function joined(collection: Name, row: Row, relation: string): readonly Row[] {
    const { link, isForward } = linkOf(collection, relation)
    if (isForward) return state[link.parent].filter(({ id }) => id === row[link.column])
    return state[link.child].filter((one) => one[link.column] === row.id)
  }

  const admits = ({ filter }: Grant, collection: Name, row: Row) =>
    holds(everybody, collection, bound(filter, caller), row) === true
  const approves = ({ validation }: Grant, collection: Name, row: Row) =>
    holds(everybody, collection, bound(validation, caller), row) === true

  function isReadable(collection: Name, row: Row): boolean {
    return grants(collection, 'read').some((grant) => admits(grant, collection, row))
  }

  function isSeen(collection: Name, row: Row, member: string): boolean {
    return grants(collection, 'read').some((grant) => grant.fields.has(member) && admits(grant, collection, row))
  }

  function members(collection: Name, action: ActionName): ReadonlySet<string> {
    return new Set(grants(collection, action).flatMap(({ fields }) => [...fields]))
  }

  // What may be named at all, whatever the rows are.

  function mayDo(collection: Name, action: ActionName): void {
    demand(grants(collection, action).length > 0, 403)
  }

  function mayName(collection: Name, action: ActionName, member: string): void {
    demand(members(collection, action).has(member), 403)
  }

  function mayFilter(collection: Name, filter: Tree | undefined): void {
    if (filter === undefined) return
    for (const [name, part] of Object.entries(filter)) {
      if (name === '_and' || name === '_or') for (const one of part as Tree[]) mayFilter(collection, one)
      else if (name === '_not' || name === '_some' || name === '_every' || name === '_none')
        mayFilter(collection, part as Tree)
      else {
        mayName(collection, 'read', name)
        if (!isRelation(collection, name)) continue
        const target = targetOf(collection, name)
        mayDo(target, 'read')
        mayFilter(target, part as Tree)
      }
    }
  }

  function maySelect(collection: Name, { fields, deep }: { fields: readonly string[]; deep: Tree }): void {
    for (const path of fields) {
      const [name = '', ...rest] = path.split('.')
      if (name === '*') continue
      mayName(collection, 'read', name)
      if (!isRelation(collection, name)) continue
      const target = targetOf(collection, name)
      mayDo(target, 'read')
      const below = (deep[name] ?? {}) as Arguments & Tree
      mayFilter(target, below._filter)
      for (const entry of below._sort ?? []) for (const field of Object.keys(entry)) mayName(target, 'read', field)
      maySelect(target, { fields: rest.length === 0 ? ['*'] : [rest.join('.')], deep: below })
    }
  }

  function mayAnswer(collection: Name, fields: readonly string[] = ['*']): void {
    maySelect(collection, { fields, deep: {} })
  }

  function mayCreate(collection: Name, body: Row): void {
    mayDo(collection, 'create')
    for (const name of Object.keys(body)) mayName(collection, 'create', name)
    mayNest(collection, body)
  }

  function mayUpdate(collection: Name, body: Row): void {
    mayDo(collection, 'update')
    for (const name of Object.keys(body)) mayName(collection, 'update', name)
    mayNest(collection, body)
  }

  function mayNest(collection: Name, body: Row): void {
    for (const { relation, kind, content } of operationsOf(collection, body)) {
      const target = targetOf(collection, relation)
      const { isForward } = linkOf(collection, relation)
      if (content.filter !== undefined) mayDo(target, 'read')
      mayFilter(target, content.filter)
      if (kind === '_create') for (const item of listOf(content.data)) mayCreate(target, item)
      if (kind === '_update') mayUpdate(target, content.data as Row)
      if (kind === '_delete') mayDo(target, 'delete')
      if (kind === '_connect') {
        mayDo(target, 'read')
        for (const key of listOf(content.keys ?? content.key)) {
          for (const name of Object.keys(key)) mayName(target, 'read', name)
        }
      }
      if (!isForward && (kind === '_connect' || kind === '_disconnect')) mayDo(target, 'update')
    }
  }

  // Reading.

  function list(collection: Name, request: Request, limits: Limits): Answer {
    const { fields = ['*'], deep = {}, filter, sort = [], limit = limits.default, offset = 0, meta } = request
    return answered(() => {
      mayDo(collection, 'read')
      mayFilter(collection, filter)
      for (const entry of sort) for (const field of Object.keys(entry)) mayName(collection, 'read', field)
      maySelect(collection, { fields, deep })
      const matching = found(collection, filter)
      const page = paged(collection, matching, { sort, limit, offset, max: limits.max })
      const data = page.map((row) => shaped(collection, row, { fields, deep, max: limits.max }))
      return { status: 200, data, ...(meta === 'totalCount' && { total: matching.length }) }
    })
  }

  function found(collection: Name, filter: Tree = {}): readonly Row[] {
    return state[collection].filter(
      (row) => isReadable(collection, row) && holds(callers, collection, filter, row) === true,
    )
  }

  type Sorting = { direction?: 'asc' | 'desc'; nulls?: 'first' | 'last' }
  type Page = { sort: NonNullable<Request['sort']>; limit: number; offset: number; max: number }

  function paged(collection: Name, rows: readonly Row[], { sort, limit, offset, max }: Page): readonly Row[] {
    const read = grants(collection, 'read')
    const telling = read.filter(({ fields }) => fields.has('id'))
    const isKeySeen = telling.length === read.length || telling.some(({ filter }) => Object.keys(filter).length === 0)
    const seen = [...(shop.fields.get(collection)?.keys() ?? [])].filter((name) =>
      members(collection, 'read').has(name),
    )
    const asked = sort.flatMap((entry) => Object.entries<Sorting>(entry))
    const entries: (readonly [string, Sorting])[] = [
      ...asked,
      ...(isKeySeen ? ['id'] : seen).map((name) => [name, {}] as const),
    ]
    const sorted = rows.toSorted((one, other) => {
      for (const [name, { direction = 'asc', nulls = direction === 'asc' ? 'last' : 'first' }] of entries) {
        const [left, right] = [one, other].map((row) => callers.value(collection, row, name))
        const order = ordered(shop.fields.get(collection)?.get(name), left, right, { direction, nulls })
        if (order !== 0) return order
      }
      return Number(one.id) - Number(other.id)
    })
    return sorted.slice(offset, offset + (limit <= 0 ? max : limit))
  }

  type Asked = { readonly fields: readonly string[]; readonly deep: Tree; readonly max: number }

  function shaped(collection: Name, row: Row, { fields, deep, max }: Asked): Row {
    const item: Record<string, unknown> = {}
    const below = new Map<string, string[]>()
    for (const path of fields) {
      const [name = '', ...rest] = path.split('.')
      const primitives = [...(shop.fields.get(collection)?.keys() ?? [])]
      const chosen = name === '*' ? primitives.filter((one) => members(collection, 'read').has(one)) : [name]
      for (const one of chosen) {
        if (isRelation(collection, one))
          below.set(one, [...(below.get(one) ?? []), rest.length === 0 ? '*' : rest.join('.')])
        else item[one] = callers.value(collection, row, one)
      }
    }
    for (const [name, paths] of below) {
      const related = callers.related(collection, row, name)
      const inner = { fields: paths, deep: (deep[name] ?? {}) as Tree, max }
      item[name] = related === undefined ? null : nested(collection, name, related, inner)
    }
    return item
  }

  function nested(collection: Name, relation: string, related: readonly Row[], asked: Asked): unknown {
    const target = targetOf(collection, relation)
    const { _filter = {}, _sort = [], _limit = Math.min(100, asked.max), _offset = 0 } = asked.deep as Arguments
    const matching = related.filter((row) => holds(callers, target, _filter, row) === true)
    if (linkOf(collection, relation).isForward) {
      const [only] = matching
      return only === undefined ? null : shaped(target, only, asked)
    }
    const page = paged(target, matching, { sort: _sort, limit: _limit, offset: _offset, max: asked.max })
    return { data: page.map((row) => shaped(target, row, asked)) }
  }

  // Writing.

  function write(asked: Write): { readonly answer: Answer; readonly rows: Rows } {
    const before = copyOf(state)
    const answer = answered(() => ({ status: 200, data: written(asked) }))
    const after = copyOf(answer.status === 200 ? state : before)
    state = before
    return { answer, rows: after }
  }

  function written(asked: Write): readonly Row[] {
    const { collection, request } = asked
    const fields = request.fields ?? ['*']
    mayDo(collection, asked.kind === 'create' ? 'create' : asked.kind.startsWith('update') ? 'update' : 'delete')
    if (request.filter !== undefined) mayDo(collection, 'read')
    mayFilter(collection, request.filter)
    const isSilent = asked.kind.startsWith('delete') && request.fields === undefined
    if (!isSilent) mayAnswer(collection, request.fields)
    const items = (rows: readonly Row[]) =>
      rows.map((row) => (isSilent ? {} : shaped(collection, row, { fields, deep: {}, max: 10_000 })))
    switch (asked.kind) {
      case 'create': {
        for (const item of asked.items) mayCreate(collection, item)
        return items(asked.items.map((item) => create(collection, item)))
      }
      case 'updateOne':
      case 'updateMany': {
        mayUpdate(collection, asked.body)
        const targets = targetsOf(asked)
        update(collection, targets, asked.body)
        return items(targets)
      }
      case 'deleteOne':
      case 'deleteMany': {
        const targets = targetsOf(asked)
        const answer = items(targets)
        remove(collection, targets)
        return answer
      }
    }
  }

  function targetsOf(asked: Exclude<Write, { kind: 'create' }>): readonly Row[] {
    const rows = found(asked.collection, asked.request.filter)
    if (!('key' in asked)) return rows
    const [target] = rows.filter((row) => callers.value(asked.collection, row, 'id') === asked.key)
    if (target === undefined) throw new Refusal(404)
    return [target]
  }

  /** Each field needs a grant that has it; a write of no field needs any grant. */
  function check(
    rows: readonly Row[],
    how: {
      collection: Name
      action: 'create' | 'update' | 'delete'
      given: readonly string[]
      when: 'before' | 'after'
    },
  ): void {
    const { collection, action, given, when } = how
    const all = grants(collection, action)
    const sets = given.length === 0 ? [all] : given.map((name) => all.filter(({ fields }) => fields.has(name)))
    for (const row of rows) {
      for (const set of sets)
        demand(
          set.some((grant) => admits(grant, collection, row)),
          403,
        )
    }
    if (when === 'before') return
    for (const row of rows) {
      for (const set of sets) {
        demand(
          set.some((grant) => admits(grant, collection, row) && approves(grant, collection, row)),
          422,
        )
      }
    }
  }

  function create(collection: Name, body: Row, parent?: { link: Link; id: unknown }): Row {
    const row: Record<string, unknown> = {}
    for (const name of shop.fields.get(collection)?.keys() ?? []) row[name] = body[name] ?? null
    if (parent !== undefined) row[parent.link.column] = parent.id
    for (const { relation, kind, content } of operationsOf(collection, body)) {
      const { link, isForward } = linkOf(collection, relation)
      if (isForward) row[link.column] = referred(link, kind, content).id
    }
    referBySight(collection, {}, body)
    demand(!state[collection].some(({ id }) => id === row.id), 422)
    state[collection].push(row)
    refer(collection, row)
    for (const { relation, kind, content } of operationsOf(collection, body)) {
      const { link, isForward } = linkOf(collection, relation)
      if (!isForward) backward(link, row, kind, content)
    }
    const given = [...Object.keys(body), ...(parent === undefined ? [] : [parent.link.name])]
    check([row], { collection, action: 'create', given, when: 'after' })
    return row
  }

  /** References hold at the end of every single change. */
  function refer(collection: Name, row: Row): void {
    for (const link of links.filter(({ child }) => child === collection)) {
      const value = row[link.column]
      demand(value === null || state[link.parent].some(({ id }) => id === value), 422)
    }
  }

  /** A reference that is written as a column leads to a row that the caller reads, its key included, or stays as it is. */
  function referBySight(collection: Name, before: Row, body: Row): void {
    for (const { column, parent } of links.filter(({ child }) => child === collection)) {
      const value = body[column] ?? null
      if (value === null || value === before[column]) continue
      demand(
        found(parent).some((row) => callers.value(parent, row, 'id') === value),
        422,
      )
    }
  }

  function referred(link: Link, kind: Operation['kind'], content: Content): Row {
    if (kind === '_create') return create(link.parent, content.data as Row)
    return named(link.parent, content.key as Row)
  }

  /** The row that a `_connect` names: one that the caller reads, its key included. */
  function named(collection: Name, key: Row): Row {
    const [row] = found(collection).filter((one) =>
      Object.entries(key).every(([name, value]) => callers.value(collection, one, name) === value),
    )
    if (row === undefined) throw new Refusal(422)
    return row
  }

  function update(collection: Name, rows: readonly Row[], body: Row): void {
    const given = Object.keys(body)
    check(rows, { collection, action: 'update', given, when: 'before' })
    const columns = Object.entries(body).filter(([name]) => !isRelation(collection, name))
    for (const row of rows) referBySight(collection, row, body)
    for (const row of rows) {
      const isTaken = state[collection].some((one) => one !== row && one.id === body.id)
      demand(!('id' in body) || !isTaken, 422)
      Object.assign(row, Object.fromEntries(columns))
      refer(collection, row)
    }
    for (const row of rows) {
      for (const { relation, kind, content } of operationsOf(collection, body)) {
        const { link, isForward } = linkOf(collection, relation)
        if (isForward) forward(link, row, kind, content)
        else backward(link, row, kind, content)
      }
    }
    check(rows, { collection, action: 'update', given, when: 'after' })
  }

  function forward(link: Link, row: Row, kind: Operation['kind'], content: Content): void {
    const linked = () => found(link.parent, content.filter).filter(({ id }) => id === row[link.column])
    switch (kind) {
      case '_connect':
      case '_create':
        set(row, link.column, referred(link, kind, content).id)
        return
      case '_update':
        update(link.parent, linked(), content.data as Row)
        return
      case '_disconnect':
        set(row, link.column, null)
        return
      case '_delete': {
        const targets = linked()
        if (targets.length > 0) set(row, link.column, null)
        remove(link.parent, targets)
        return
      }
    }
  }

  function backward(link: Link, row: Row, kind: Operation['kind'], content: Content): void {
    const linked = () => found(link.child, content.filter).filter((one) => one[link.column] === row.id)
    switch (kind) {
      case '_create':
        for (const item of listOf(content.data)) create(link.child, item, { link, id: row.id })
        return
      case '_connect':
        for (const key of listOf(content.keys)) relink(link, [named(link.child, key)], row.id)
        return
      case '_update':
        update(link.child, linked(), content.data as Row)
        return
      case '_disconnect':
        relink(link, linked(), null)
        return
      case '_delete':
        remove(link.child, linked())
        return
    }
  }

  /** A change of the far rows' reference is an update of their relation back. */
  function relink(link: Link, rows: readonly Row[], id: unknown): void {
    const how = { collection: link.child, action: 'update', given: [link.name] } as const
    check(rows, { ...how, when: 'before' })
    for (const row of rows) set(row, link.column, id)
    check(rows, { ...how, when: 'after' })
  }

  function remove(collection: Name, rows: readonly Row[]): void {
    check(rows, { collection, action: 'delete', given: [], when: 'before' })
    state[collection] = state[collection].filter((row) => !rows.includes(row))
    for (const link of links.filter(({ parent }) => parent === collection)) {
      demand(!state[link.child].some((one) => rows.some(({ id }) => id === one[link.column])), 422)
    }
  }

  const isAllowed: Naive['isAllowed'] = (collection, action) => grants(collection, action).length > 0
  return { list, write, members, isAllowed, isReadable, isSeen }
}

function answered(work: () => Answer): Answer {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal) return { status: error.status }
    throw error
  }
}

function copyOf(rows: Rows): State {
  return structuredClone(rows) as State
}

function set(row: Row, column: string, value: unknown): void {
  Object.assign(row, { [column]: value })
}

function linkOf(collection: Name, relation: string): { readonly link: Link; readonly isForward: boolean } {
  for (const link of links) {
    if (link.child === collection && link.name === relation) return { link, isForward: true }
    if (link.parent === collection && link.opposite === relation) return { link, isForward: false }
  }
  throw new Error(`there is no ${collection}.${relation}`)
}

function isRelation(collection: Name, member: string): boolean {
  return shop.relations.get(collection)?.has(member) === true
}

function targetOf(collection: Name, relation: string): Name {
  const { link, isForward } = linkOf(collection, relation)
  return isForward ? link.parent : link.child
}

type Content = { readonly filter?: Tree; readonly data?: unknown; readonly key?: unknown; readonly keys?: unknown }
type Operation = {
  readonly relation: string
  readonly kind: '_create' | '_connect' | '_update' | '_disconnect' | '_delete'
  readonly content: Content
}

function operationsOf(collection: Name, body: Row): readonly Operation[] {
  return Object.entries(body).flatMap(([relation, value]) => {
    if (!isRelation(collection, relation)) return []
    return listOf(value).map((one): Operation => {
      const [[kind, content] = []] = Object.entries(one)
      return { relation, kind: kind as Operation['kind'], content: content as Content }
    })
  })
}

function listOf(value: unknown): readonly Row[] {
  return Array.isArray(value) ? value : [value as Row]
}

/** A policy's filter with what its variables stand for. */
function bound(node: Tree, caller: Caller): Tree {
  return JSON.parse(JSON.stringify(node), (_, value) => {
    if (value === '$CURRENT_USER') return caller.userId
    if (value === '$CURRENT_ROLES') return caller.roleIds
    const [, days] = /^\$NOW(?:\((.*) days?\))?$/.exec(String(value)) ?? [null, null]
    if (days === null) return value
    return new Date(now + Number(days ?? 0) * 86_400_000).toISOString().slice(0, 10)
  })
}

function holds(eyes: Eyes, collection: Name, filter: Tree, row: Row): Truth {
  const truths = Object.entries(filter).map(([name, part]): Truth => {
    if (name === '_and') return all((part as Tree[]).map((one) => holds(eyes, collection, one, row)))
    if (name === '_or') return negated(all((part as Tree[]).map((one) => negated(holds(eyes, collection, one, row)))))
    if (name === '_not') return negated(holds(eyes, collection, part as Tree, row))
    if (isRelation(collection, name)) return relationHolds(eyes, collection, name, part as Tree, row)
    const type = shop.fields.get(collection)?.get(name)
    const value = eyes.value(collection, row, name)
    const isPlain = typeof part !== 'object' || part === null
    const tests = isPlain ? [['_eq', part] as const] : Object.entries(part)
    return all(tests.map(([operator, operand]) => operatorHolds(type, operator, operand, value)))
  })
  return all(truths)
}

function relationHolds(eyes: Eyes, collection: Name, relation: string, part: Tree, row: Row): Truth {
  const related = eyes.related(collection, row, relation)
  if (related === undefined) return false
  const target = targetOf(collection, relation)
  const satisfying = (filter: Tree) => related.filter((one) => holds(eyes, target, filter, one) === true).length
  if (linkOf(collection, relation).isForward) return satisfying(part) > 0
  const { _some, _every, _none, ...bare } = part as Record<string, Tree | undefined>
  const isBare = Object.keys(bare).length > 0 || Object.keys(part).length === 0
  return (
    (!isBare || satisfying(bare as Tree) > 0) &&
    (_some === undefined || satisfying(_some) > 0) &&
    (_every === undefined || satisfying(_every) === related.length) &&
    (_none === undefined || satisfying(_none) === 0)
  )
}

function all(truths: readonly Truth[]): Truth {
  if (truths.includes(false)) return false
  return truths.includes(null) ? null : true
}

function negated(truth: Truth): Truth {
  return truth === null ? null : !truth
}
