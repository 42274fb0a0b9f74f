/** The use cases behind the routes of the model file, loaded late as one module. */
import { modelFileSchema } from '../../../core/file/json-schema.ts'

export { applyFile } from './apply-file.ts'
export { answerPlan } from './plan-file.ts'
export { readFile } from './read-file.ts'

export function schemaText(): string {
  return JSON.stringify(modelFileSchema())
}
