/** Converts canonical texts to the JSON values of answers, where no database renders them (docs/contract.md#types). */
import { parseJson } from '../exact-json.ts'
import type { FieldType } from './field-type.ts'

/** The JSON value of a canonical text. */
export function wireValue(
  { type, isList }: { readonly type: FieldType; readonly isList: boolean },
  text: string | null,
): unknown {
  if (text === null) return null
  if (!isList) return wireScalar(type, text)
  const texts = parseJson(text) as readonly (string | null)[]
  return texts.map((one) => (one === null ? null : wireScalar(type, one)))
}

function wireScalar(type: FieldType, text: string): unknown {
  switch (type.name) {
    case 'int8':
    case 'int16':
    case 'int32':
    case 'uint8':
    case 'uint16':
    case 'uint32':
      return Number(text)
    case 'float32':
    case 'float64':
      return Number.isFinite(Number(text)) ? Number(text) : text
    case 'boolean':
      return text === 'true'
    case 'json':
    case 'geometry':
      return parseJson(text)
    case 'int64':
    case 'uint64':
    case 'decimal':
    case 'string':
    case 'uuid':
    case 'date':
    case 'time':
    case 'dateTime':
    case 'dateTimeWithTimezone':
    case 'bytes':
      return text
    default:
      return type satisfies never
  }
}
