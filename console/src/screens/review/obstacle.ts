/** What keeps a change of the model from being made: values of a field, and how many where that is told. */
import type { ServiceError } from 'governed-data-client'
import { formatNumber, t } from '../../messages/messages.ts'
import { valuesTexts } from '../../messages/values.ts'

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

/** A migration names it by its path, a model file by where it stands there. */
function fieldOf({ meta, messages }: ServiceError): string | undefined {
  const { field } = (meta ?? {}) as { readonly field?: unknown }
  if (typeof field === 'string') return field
  const [, collection, name] = messages.flatMap((one) => /^model\.collections\.(\w+)\.fields\.(\w+)/.exec(one) ?? [])
  return collection === undefined ? undefined : `${collection}.${name}`
}
