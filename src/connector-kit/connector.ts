/** The interface of a data connector (docs/contract.md#connectors): exports, requests and answers of its module. */
import type { ComparedType, ConnectorOperation, ConnectorOperator, PlainTypeName } from '../core/model/vocabulary.ts'
import { InvalidConfiguration } from './errors.ts'

/**
 * A network target, with the reason for the user who approves it: `{permission: 'net:api.example.com', reason: '…'}`.
 */
export type Permission = { readonly permission: string; readonly reason: string }

export type Operation = ConnectorOperation
export type Operator = ConnectorOperator

export type FieldType =
  | { readonly name: PlainTypeName }
  | { readonly name: 'string'; readonly params?: { readonly length: 'unlimited' } | FixedLength }
  | {
      readonly name: 'decimal'
      readonly params?: { readonly kind: 'constrained'; readonly precision: number; readonly scale: number }
    }

type FixedLength = { readonly length: 'fixed'; readonly value: number }

export type FieldDeclaration = {
  readonly name: string
  readonly type: FieldType
  readonly isNullable: boolean
  readonly isList: boolean
  /** Set by the external system: callers cannot send it. */
  readonly isReadOnly?: boolean
}

/** The requests that a collection supports; all others are refused before they reach the connector. */
export type CollectionDeclaration = {
  readonly name: string
  readonly namespace?: string
  readonly fields: readonly FieldDeclaration[]
  /** Names of the required fields that identify an item. */
  readonly key: readonly string[]
  readonly operations: readonly Operation[]
  /** Supported operators by field. */
  readonly filter?: Readonly<Record<string, readonly Operator[]>>
  /** Fields that lists can be sorted by. */
  readonly sort?: readonly string[]
  /** Whether the number of all matching items can be returned. */
  readonly count?: boolean
  /** Whether a list can skip items. */
  readonly offset?: boolean
  /** Whether a list can begin behind an item: `after`. `sort` then has every field of the key. */
  readonly after?: boolean
  /** Whether `updateOne` and `deleteOne` heed `unchanged`, in one step with the write itself. */
  readonly conditional?: boolean
  /** Whether a write with an `idempotencyKey` that was seen before is done no second time. */
  readonly idempotent?: boolean
}

export type SchemaDeclaration = {
  readonly namespaces?: readonly { readonly name: string }[]
  readonly collections: readonly CollectionDeclaration[]
}

/** `not` matches where the inner filter is false; a comparison with null is neither true nor false. */
export type Filter =
  | { readonly and: readonly Filter[] }
  | { readonly or: readonly Filter[] }
  | { readonly not: Filter }
  | Comparison

export type Comparison = { readonly field: string; readonly operator: Operator; readonly value: unknown } & Typed

/** The type of the field where its values do not compare as their JSON does: `"10.00"` is more than `"9"` as a decimal. */
type Typed = { readonly type?: ComparedType }

export type { ComparedType }

export type Item = Readonly<Record<string, unknown>>

type Base = {
  readonly collection: string
  readonly namespace?: string
  /** Fields that every returned record must contain, null if they have no value. */
  readonly fields: readonly string[]
}

/** Where the item has other values in these fields by now, nothing is written, and ItemChanged is thrown. */
type Unchanged = { readonly unchanged?: Item }

/** `idempotencyKey` is the same for a write that is sent again; only where the collection declares `idempotent`. */
type Write = Base & { readonly idempotencyKey?: string }

export type Sort = Typed & {
  readonly field: string
  readonly direction: 'asc' | 'desc'
  readonly nulls?: 'first' | 'last'
}

export type QueryRequest =
  | (Base & {
      readonly operation: 'readMany'
      readonly filter?: Filter
      readonly sort?: readonly Sort[]
      readonly limit: number
      readonly offset?: number
      /** Values by field for all of `sort`, which then ends with the key: only what comes behind them is answered. */
      readonly after?: Item
      /** If true, the answer must contain `count`, the number of all matching items. */
      readonly count?: true
    })
  | (Base & { readonly operation: 'readOne'; readonly key: Item })
  | (Write & Unchanged & { readonly operation: 'deleteOne'; readonly key: Item })
  | (Write & { readonly operation: 'createMany'; readonly data: readonly Item[] })
  | (Write & Unchanged & { readonly operation: 'updateOne'; readonly key: Item; readonly data: Item })
  | (Write & { readonly operation: 'updateMany'; readonly filter?: Filter; readonly data: Item })
  | (Write & { readonly operation: 'deleteMany'; readonly filter?: Filter })

/** `{record}` for readOne, updateOne and deleteOne, null if the item does not exist; `{records}` for all others. */
export type QueryAnswer =
  | { readonly record: Item | null }
  | { readonly records: readonly Item[]; readonly count?: number }

type Awaitable<T> = T | Promise<T>

export type Handlers = {
  readonly introspect: () => Awaitable<{ readonly schema: SchemaDeclaration }>
  readonly query: (request: QueryRequest) => Awaitable<QueryAnswer>
  readonly testConnection?: () => Awaitable<{ readonly ok: boolean; readonly message?: string }>
}

export type ConnectorDefinition<Config> = {
  /** Validates the configuration of a data source; throws InvalidConfiguration. */
  readonly config: (value: unknown) => Config
  /** Returns the permissions that this configuration needs in addition to the manifest's. Synchronous, without I/O. */
  readonly preflight: (config: Config) => { readonly permissions: readonly Permission[] }
  readonly setup: (config: Config) => Awaitable<Handlers>
}

/** The exports of a connector's module. */
export type ConnectorModule = {
  readonly preflight: (config: unknown) => { readonly permissions: readonly Permission[] }
  readonly setup: (config: unknown) => Promise<Handlers>
}

/**
 * Defines a connector: `export const { preflight, setup } = defineConnector({…})`. Both functions receive the
 * configuration as validated by `config`. See docs/contract.md#connectors.
 */
export function defineConnector<Config>(definition: ConnectorDefinition<Config>): ConnectorModule {
  return {
    preflight: (config) => definition.preflight(definition.config(config)),
    setup: async (config) => definition.setup(definition.config(config)),
  }
}

/**
 * Validates a configuration of texts: all of `required`, any of `optional`, no other members. Throws
 * InvalidConfiguration.
 */
export function readTexts<Required extends string, Optional extends string = never>(
  value: unknown,
  { required, optional = [] }: { readonly required: readonly Required[]; readonly optional?: readonly Optional[] },
): { readonly [Name in Required]: string } & { readonly [Name in Optional]?: string } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidConfiguration('the configuration must be an object')
  }
  const known: readonly string[] = [...required, ...optional]
  for (const [name, text] of Object.entries(value)) {
    if (!known.includes(name))
      throw new InvalidConfiguration(`the configuration has no ${name.slice(0, 50).toWellFormed()}`)
    if (typeof text !== 'string' || text === '') throw new InvalidConfiguration(`${name} must be a text`)
  }
  const missing = required.find((name) => !(name in value))
  if (missing !== undefined) throw new InvalidConfiguration(`${missing} must be given`)
  return value as { readonly [Name in Required]: string } & { readonly [Name in Optional]?: string }
}
