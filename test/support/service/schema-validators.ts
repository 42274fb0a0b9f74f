/**
 * Validators of the schemas in OpenAPI documents. Most schemas are the same in the documents of all workspaces, and to
 * compile one takes far longer than to validate by it, so that each is compiled once per process.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

// Most validators run a few times: to optimise their code takes longer than they do.
const code = { optimize: false }
const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: false, ownProperties: true, code })
addFormats.default(ajv, { mode: 'full' })
// Known to generators of clients; what it may hold is said by its pattern.
ajv.addFormat('uint64', true)

/** By the text of the schema and of all that it refers to. */
const validators = new Map<string, ValidateFunction>()

/** Compiled, they are large. */
const MOST = 1_000

export type OpenApi = { readonly components: { readonly schemas: Readonly<Record<string, object>> } }

/** `schema` is a part of `document`, and refers to others by pointers into it. Throws where one leads nowhere. */
export function validatorOf(schema: object, document: OpenApi): ValidateFunction {
  const whole = { ...schema, ...referred(schema, document) }
  const text = JSON.stringify(whole)
  const known = validators.get(text)
  if (known !== undefined) return known
  const validator = ajv.compile(whole)
  // It would keep what it has compiled.
  ajv.removeSchema(whole)
  validators.set(text, validator)
  const [oldest = ''] = validators.keys()
  if (validators.size > MOST) validators.delete(oldest)
  return validator
}

/** The schemas that `schema` refers to, directly or through others, at their places in the document. */
function referred(schema: object, document: OpenApi): OpenApi {
  const schemas = new Map<string, object>()
  const texts = [JSON.stringify(schema)]
  for (const text of texts) {
    for (const [, name = ''] of text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      const found = document.components.schemas[name]
      if (found === undefined || schemas.has(name)) continue
      schemas.set(name, found)
      texts.push(JSON.stringify(found))
    }
  }
  return { components: { schemas: Object.fromEntries(schemas) } }
}
