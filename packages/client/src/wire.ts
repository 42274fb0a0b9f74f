/** Queries and keys as the API reads them (docs/api.md#reading). */

type Nested = { readonly fields?: unknown; readonly [argument: string]: unknown }
type Deep = { [name: string]: unknown }

/** The members of a query as MCP and QUERY name them: relations in `fields` become paths and `deep`. */
export function parametersOf({ fields, sort, meta, group, ...others }: Nested): Readonly<Record<string, unknown>> {
  const deep: Deep = {}
  requireDefined(given(others))
  const names = fields === undefined ? undefined : flatten(fields as readonly unknown[], '', deep)
  return {
    ...(names !== undefined && { fields: names }),
    ...(sort !== undefined && { sort: sortOf(sort as readonly unknown[]) }),
    ...(meta !== undefined && { meta: String(meta) }),
    ...(group !== undefined && { group: groupsOf(group as readonly unknown[]) }),
    ...others,
    ...(Object.keys(deep).length > 0 && { deep }),
  }
}

/** Paths of the items of `fields`; the queries of their relations go into `deep`. */
function flatten(items: readonly unknown[], prefix: string, deep: Deep): readonly string[] {
  return items.flatMap((item) => {
    if (typeof item === 'string') return prefix + item
    return Object.entries(item as Record<string, Nested | readonly unknown[]>).flatMap(([relation, nested]) => {
      const query: Nested = Array.isArray(nested) ? { fields: nested } : (nested as Nested)
      const { fields = query.aggregate === undefined ? ['*'] : undefined, sort, meta, ...others } = query
      const below: Deep = (deep[relation] as Deep | undefined) ?? {}
      requireDefined(given(others))
      for (const [name, value] of Object.entries(others)) below[`_${name}`] = value
      if (meta !== undefined) below._meta = String(meta)
      if (sort !== undefined) below._sort = sortOf(sort as readonly unknown[])
      const names = flatten((fields ?? []) as readonly unknown[], `${prefix}${relation}.`, below)
      if (Object.keys(below).length > 0) deep[relation] = below
      if (fields === undefined) return []
      // The service refuses the empty name, since nothing is selected of the relation.
      return names.length > 0 ? names : `${prefix}${relation}.`
    })
  })
}

/** `{title: 'desc nulls last'}` → `{title: {direction: 'desc', nulls: 'last'}}`, behind relations as well. */
function sortOf(items: readonly unknown[]): readonly unknown[] {
  return items.map(sortItem)
}

function sortItem(item: unknown): unknown {
  if (typeof item === 'string') {
    const [direction, nulls] = item.split(' nulls ')
    return { direction, ...(nulls !== undefined && { nulls }) }
  }
  return Object.fromEntries(Object.entries(item as object).map(([name, below]) => [name, sortItem(below)]))
}

/** `[{customer: ['country', {createdAt: {trunc: 'month'}}]}]` → `['customer.country', {'customer.createdAt': {…}}]` */
function groupsOf(items: readonly unknown[], prefix = ''): readonly unknown[] {
  return items.flatMap((item) =>
    typeof item === 'string'
      ? prefix + item
      : Object.entries(item as object).flatMap(([name, below]) =>
          Array.isArray(below) ? groupsOf(below, `${prefix}${name}.`) : { [prefix + name]: below },
        ),
  )
}

/** What is not undefined as a whole, which is as if it were not there. */
const given = (members: object) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

/** A condition on undefined would be none. */
function requireDefined(conditions: object): void {
  JSON.stringify(conditions, (name, value: unknown) => {
    if (value === undefined) throw new TypeError(`${name} is undefined`)
    return typeof value === 'bigint' ? null : value
  })
}

/** The query string, with its `?`; empty where there is nothing to say. */
export function queryString(parameters: object): string {
  const texts = Object.entries(parameters).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return []
    return [[name, typeof value === 'object' && name !== 'fields' ? jsonOf(value) : String(value)]]
  })
  return texts.length === 0 ? '' : `?${new URLSearchParams(texts)}`
}

/** JSON in which long integers are texts. Throws for what would become null without being it, such as NaN. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, name, member: unknown) {
    if (typeof member === 'bigint') return `${member}`
    const given = this[name]
    const isLost = typeof member === 'number' ? !Number.isFinite(member) : member === null && given instanceof Date
    if (isLost || (member === undefined && Array.isArray(this))) throw new TypeError(`${name} is ${given}`)
    return member
  })
}

/** A key as it stands in an address. */
export function keyPath(key: unknown): string {
  return (Array.isArray(key) ? key : [key]).map(keyPart).join()
}

/** Quoted where a text would not arrive as it is: the empty one, dots, and what begins with a quote. */
function keyPart(part: unknown): string {
  if (part === undefined || typeof part === 'object') throw new TypeError(`The key is ${part}`)
  const text = String(part)
  return encodeURIComponent(/^("|\.{0,2}$)/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
}
