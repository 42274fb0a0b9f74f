/** A model file, and how it differs from the workspace. */
import { type ModelText, writeModelSchema } from 'governed-data-client/generate'
import type { Plan } from 'governed-data-client/system'
import { Failure } from './failure.ts'
import { parseJson, readText } from './written-file.ts'

export async function readModel(path: string): Promise<object> {
  const text = await readText(path)
  if (text === undefined) throw new Failure(`${path} is not there`, { help: 'governed schema pull writes it' })
  const model = parseJson(path, text)
  if (typeof model === 'object' && model !== null) return model
  throw new Failure(`${path} is no model file: it holds no object`)
}

/** Whether a text has the form of a model file. */
export function isModel(text: string): boolean {
  try {
    const model = JSON.parse(text) as ModelText & { readonly version?: unknown }
    writeModelSchema(model)
    return typeof model.version === 'number' && model.collections !== undefined
  } catch {
    return false
  }
}

export function isEmpty({ changes, operations }: Plan): boolean {
  return changes.length === 0 && operations.length === 0
}
