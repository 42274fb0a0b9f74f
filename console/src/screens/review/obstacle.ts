/** What keeps a change of the model from being made: values of a field, and how many where that is told. */
import type { ServiceError } from 'governed-data-client'
import { formatNumber, t } from '../../messages/messages.ts'
import { valuesTexts } from '../../messages/values.ts'
import type { Model } from '../model/records.ts'
import type { ValueType } from './values.ts'

/** The error of rows that are in the way. */
const IN_THE_WAY = '3013'

/** Undefined where something else is wrong. */
export function obstacleText(error: ServiceError): string | undefined {
  const texts = valuesTexts.value
  const { rows } = (error.meta ?? {}) as { readonly rows?: unknown }
  const [what, field] = [texts.obstacle[error.messages.at(-1) ?? ''], fieldOf(error)]
  if (error.code !== IN_THE_WAY || what === undefined || field === undefined) return undefined
  const found =
    typeof rows === 'number'
      ? texts.obstacleCount(what(field), t.value.grid.count(formatNumber(rows), rows))
      : texts.obstacleHidden(what(field))
  return `${found} ${texts.obstacleText}`
}

type Rows = { readonly collection: string; readonly filter: object }

/** The rows with these values, by the models before and after; undefined where no filter says which they are. */
export function obstacleRows(error: ServiceError, before: Model, after: Model): Rows | undefined {
  const [name, fieldName = ''] = fieldOf(error)?.split('.') ?? []
  const collection = before.collections.find(({ apiName }) => apiName === name)
  const field = collection?.fields.find(({ apiName }) => apiName === fieldName)
  if (error.code !== IN_THE_WAY || !collection || !field || field.isList) return undefined
  const within = (filter: object) => ({ collection: collection.apiName, filter })
  if (error.messages.includes('Null constraint failed')) return within({ [fieldName]: { _null: true } })
  const fields = after.collections.find(({ id }) => id === collection.id)?.fields
  const type = fields?.find(({ id }) => id === field.id)?.type
  const bounds = type && field.type.name.includes('int') && integerBounds(type)
  if (!bounds || !error.messages.includes('Value out of range')) return undefined
  return within({ _or: [{ [fieldName]: { _lt: bounds[0] } }, { [fieldName]: { _gt: bounds[1] } }] })
}

/** Of those that a filter writes exactly. */
function integerBounds({ name }: ValueType): readonly [least: number, most: number] | undefined {
  const [, unsigned, digits] = /^(u?)int(8|16|32)$/.exec(name) ?? []
  if (digits === undefined) return undefined
  const size = 2 ** Number(digits)
  return unsigned ? [0, size - 1] : [-size / 2, size / 2 - 1]
}

/** A migration names it by its path, a model file by where it stands there. */
function fieldOf({ meta, messages }: ServiceError): string | undefined {
  const { field } = (meta ?? {}) as { readonly field?: unknown }
  if (typeof field === 'string') return field
  const [, collection, name] = messages.flatMap((one) => /^model\.collections\.(\w+)\.fields\.(\w+)/.exec(one) ?? [])
  return collection === undefined ? undefined : `${collection}.${name}`
}
