/** The shortest form in which the parts of a file are written: no defaults, no `renamedFrom`. */
import { actions } from '../access/access.ts'
import { SYSTEM_SOURCE } from '../model/model.ts'
import { printFieldText } from './field-text.ts'
import {
  type FileCollection,
  type FileField,
  type FileIndex,
  type FilePolicy,
  type FileRole,
  inOrder,
  junctionName,
} from './file.ts'
import { isMembers } from './reading.ts'
import { sortedValue } from './sorted-json.ts'

/** A field as JSON: a text or an object. */
export function shortField(field: FileField, [collection, name]: readonly [string, string]): unknown {
  switch (field.kind) {
    case 'primitive': {
      const { value, dbName, isReadOnly } = field
      const text = printFieldText(field)
      const more = {
        ...(value !== undefined && { default: value.of }),
        ...(dbName !== undefined && dbName !== name && { dbName }),
        ...(isReadOnly && { readOnly: true }),
      }
      return Object.keys(more).length === 0 ? text : { type: text, ...more }
    }
    case 'relation': {
      const { to, isNullable, opposite, isUnique, onDelete, onUpdate, by, references, constraint, hasIndex } = field
      return {
        to: isNullable ? `${to}?` : to,
        ...(opposite !== collection && { opposite }),
        ...(isUnique && { unique: true }),
        ...(onDelete !== 'noAction' && { onDelete }),
        ...(onUpdate !== 'noAction' && { onUpdate }),
        ...(by !== undefined && { by }),
        ...(references !== undefined && { references }),
        ...(constraint !== undefined && { constraint }),
        ...(!hasIndex && { index: false }),
      }
    }
    case 'junction': {
      const { many, through, opposite } = field
      return {
        many,
        ...(through !== junctionName(collection, name) && { through }),
        ...(opposite !== collection && { opposite }),
      }
    }
    case 'over': {
      const { many, over, opposite } = field
      return { many, over: over.join('.'), ...(opposite !== collection && { opposite }) }
    }
  }
}

export function shortIndex({ isUnique, on, dbName }: FileIndex): unknown {
  const text = `${isUnique ? 'unique ' : ''}${on.join(', ')}`
  return dbName === undefined ? text : { on: text, dbName }
}

/** The members of a collection beside its fields and indexes. */
export function shortMembers(
  { key, source, namespace, dbName, isReadOnly, hasHistory }: FileCollection,
  name: string,
): { readonly key?: readonly string[]; readonly rest: Readonly<Record<string, unknown>> } {
  return {
    ...(key.join() !== 'id' && { key }),
    rest: {
      ...(source !== SYSTEM_SOURCE && { source }),
      ...(namespace !== undefined && { namespace }),
      ...(dbName !== name && { dbName }),
      ...(isReadOnly && { readOnly: true }),
      ...(hasHistory && { history: true }),
    },
  }
}

export function shortRole({ description, policies }: FileRole): unknown {
  const sorted = [...policies].sort()
  return description === null ? sorted : { description, policies: sorted }
}

/** What a policy allows, in the order of the file. */
export function shortContent(content: unknown): {
  readonly entitlements: readonly string[]
  readonly collections: readonly (readonly [string, unknown])[]
} {
  const { entitlements, collections } = isMembers(content) ? content : {}
  return {
    entitlements: Array.isArray(entitlements) ? [...new Set(entitlements.map(String))].sort() : [],
    collections: inOrder(Object.entries(isMembers(collections) ? collections : {})).map(([name, allowed]) => {
      const own = isMembers(allowed) ? allowed : {}
      const short = actions.flatMap((action) => (own[action] === undefined ? [] : [[action, shortAction(own[action])]]))
      return [name, Object.fromEntries(short)] as const
    }),
  }
}

function shortAction(action: unknown): unknown {
  if (!isMembers(action)) return action
  const { fields, filter, check, validation } = action
  return {
    ...(Array.isArray(fields) && { fields: [...new Set(fields.map(String))].sort() }),
    ...(filter !== undefined && { filter: sortedValue(filter) }),
    ...(check !== undefined && { check: sortedValue(check) }),
    ...(validation !== undefined && { validation: sortedValue(validation) }),
  }
}

export function shortPolicy({ description, content }: FilePolicy): Readonly<Record<string, unknown>> {
  const { entitlements, collections } = shortContent(content)
  return {
    ...(description !== null && { description }),
    ...(entitlements.length > 0 && { entitlements }),
    ...(collections.length > 0 && { collections: Object.fromEntries(collections) }),
  }
}
