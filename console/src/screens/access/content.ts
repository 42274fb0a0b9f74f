/** The content of a policy as its matrix shows and changes it. What the matrix does not know stays as it is. */
export const actions = ['read', 'create', 'update', 'delete'] as const
export type Action = (typeof actions)[number]

/** A condition as the API takes it. */
export type Condition = Readonly<Record<string, unknown>>

/** What an action is limited to; what is left out limits nothing. */
export type Limits = {
  readonly fields?: readonly string[] | '*'
  readonly filter?: Condition
  readonly check?: Condition
  readonly validation?: Condition
}

export type Grant = 'all' | Limits

export type Content = {
  readonly entitlements?: readonly string[]
  readonly collections?: { readonly [collection: string]: Readonly<Partial<Record<Action, Grant>>> }
}

/** The conditions that an action may have, in the order in which they are asked. */
export const conditionsOf: Readonly<Record<Action, readonly ('filter' | 'check' | 'validation')[]>> = {
  read: ['filter'],
  create: ['filter', 'validation'],
  update: ['filter', 'check', 'validation'],
  delete: ['filter'],
}

export function grantOf({ collections }: Content, collection: string, action: Action): Grant | undefined {
  return collections?.[collection]?.[action]
}

/** The content with another grant, which undefined takes away. */
export function withGrant(content: Content, collection: string, action: Action, grant: Grant | undefined): Content {
  const { [action]: _, ...others } = content.collections?.[collection] ?? {}
  const granted = grant === undefined ? others : { ...others, [action]: grant }
  const { [collection]: __, ...collections } = content.collections ?? {}
  return {
    ...content,
    collections: Object.keys(granted).length === 0 ? collections : { ...collections, [collection]: granted },
  }
}

/** The grant of these limits: everything where they limit nothing. */
export function limited(limits: Limits): Grant {
  const { fields, ...conditions } = limits
  const given = Object.entries(conditions).filter(([, condition]) => Object.keys(condition ?? {}).length > 0)
  const all = { ...(fields !== undefined && fields !== '*' && { fields }), ...Object.fromEntries(given) }
  return Object.keys(all).length === 0 ? 'all' : all
}

type ConditionName = (typeof conditionsOf)[Action][number]

type Typed = {
  /** Of each condition what was typed, as JSON. */
  readonly texts: readonly (readonly [name: ConditionName, text: string])[]
  readonly fields: readonly string[] | '*'
}

/** The grant that was typed, or which condition is none. */
export function grantTyped(
  limits: Limits,
  { texts, fields }: Typed,
): { readonly grant?: Grant; readonly wrong?: ConditionName } {
  const read = texts.map(([name, text]) => [name, conditionIn(text)] as const)
  const bad = read.find(([, condition]) => condition === undefined)
  if (bad !== undefined) return { wrong: bad[0] }
  return { grant: limited({ ...limits, ...Object.fromEntries(read), fields }) }
}

export function conditionText(condition: object | undefined): string {
  return condition === undefined || Object.keys(condition).length === 0 ? '' : JSON.stringify(condition, null, 2)
}

/** Nothing limits nothing; undefined for what is no condition. */
export function conditionIn(text: string): Condition | undefined {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Condition) : undefined
  } catch {
    return undefined
  }
}

/** How many collections and rights it speaks of. */
export function sizeOf({ entitlements = [], collections = {} }: Content) {
  return { collections: Object.keys(collections).length, entitlements: entitlements.length }
}
