/** A model file. */
import { Failure } from './failure.ts'
import { parseJson, readText } from './written-file.ts'

export async function readModel(path: string): Promise<unknown> {
  const text = await readText(path)
  if (text === undefined) throw new Failure(`${path} is not there`)
  return parseJson(path, text)
}
