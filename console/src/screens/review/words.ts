/** What the model file says of a collection, a field, a relation or an index, as people say it. */
import { listed } from '../../messages/messages.ts'
import { typeName } from '../../messages/types.ts'
import { valuesTexts } from '../../messages/values.ts'
import { typeIn } from './values.ts'

/** What of its members changes, in words. */
export function memberTexts(before: object, after: object): readonly string[] {
  const [was, is] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  const names = [...new Set([...was.keys(), ...is.keys()])]
  return names.flatMap((name) => {
    const isSame = JSON.stringify(was.get(name)) === JSON.stringify(is.get(name))
    return isSame ? [] : [memberText(name, was.get(name), is.get(name))]
  })
}

/** Such as `tags: unique index of label`; undefined for what is no index. */
export function indexWords(path: string): { readonly of: string; readonly index: string } | undefined {
  const [, of, on] = /^(\w+): (.+)$/.exec(path) ?? []
  return of === undefined || on === undefined || on === 'key' ? undefined : { of, index: indexText(on) }
}

/** What a member becomes; only what it was where it goes. */
function memberText(name: string, was: unknown, is: unknown): string {
  const { becomes, without } = valuesTexts.value
  if (is === undefined) return without(oneText(name, was))
  return was === undefined ? oneText(name, is) : `${oneText(name, was)} ${becomes} ${oneText(name, is)}`
}

/** Such as `Text (string), up to 80 characters, may be empty`; as the model file has it where it is no type. */
export function typeWords(text: string): string {
  const texts = valuesTexts.value.type
  const type = typeIn(text)
  if (type === undefined) return text
  const { value, precision, scale } = type.params ?? {}
  const [, filled = ''] = text.split(' ')
  const called = typeName({ type: type.name, isList: type.isList })
  const name = called.toLowerCase().includes(type.name.toLowerCase()) ? called : `${called} (${type.name})`
  const bounds = value === undefined ? [] : [texts.length(String(value))]
  const digits = precision === undefined ? [] : [texts.digits(String(precision), String(scale))]
  const rest = [type.isNullable ? texts.empty : undefined, texts.filled[filled]].filter((one) => one !== undefined)
  return listed([name, ...bounds, ...digits, ...rest])
}

function oneText(name: string, value: unknown): string {
  const texts = valuesTexts.value.member
  const [text, isOn] = [plain(value), value !== false]
  switch (name) {
    case '':
    case 'key':
      return texts.key(text)
    case 'type':
      return typeWords(text)
    case 'to':
      return text.endsWith('?') ? texts.toOneOrNone(text.slice(0, -1)) : texts.toOne(text)
    case 'indexes':
      return (Array.isArray(value) ? value : []).map(indexText).join(' · ')
    case 'on':
      return indexText(value)
    case 'onDelete':
    case 'onUpdate':
      return texts[name](texts.actions[text] ?? text)
    case 'unique':
    case 'readOnly':
    case 'history':
    case 'index':
      return texts[name][isOn ? 'on' : 'off']
    case 'constraint':
      return isOn ? texts.constraint(text) : texts.noConstraint
    default:
      return texts.others[name]?.(text) ?? `${name}: ${text}`
  }
}

function indexText(index: unknown): string {
  const texts = valuesTexts.value.member
  const on = plain(typeof index === 'object' && index !== null && 'on' in index ? index.on : index)
  return on.startsWith('unique ') ? texts.uniqueIndex(on.slice('unique '.length)) : texts.normalIndex(on)
}

/** A text as it is, names one after the other, and all else as JSON. */
function plain(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  const isNames = Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string')
  return isNames ? value.join(', ') : (JSON.stringify(value) ?? '')
}
