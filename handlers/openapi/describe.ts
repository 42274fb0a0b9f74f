/** Helpers for the descriptions of routes; the schemas that parse bodies also describe them. */
import * as z from 'zod'
import type { JsonSchema } from '../../src/core/openapi/schema.ts'
import type { AnswerDescription, RouteDescription } from '../../src/core/openapi/system.ts'

/** Describes a request body by its schema. */
export function requestBody(schema: z.ZodType, example?: unknown): JsonSchema {
  return { ...converted(schema, 'input'), ...(example !== undefined && { examples: [example] }) }
}

export function response(schema: z.ZodType, description: string, example?: unknown): AnswerDescription {
  return {
    description,
    schema: { ...converted(schema, 'output'), ...(example !== undefined && { examples: [example] }) },
  }
}

/** Describes an answer's `data` by its schema. */
export function data(schema: z.ZodType, description: string, example?: unknown): AnswerDescription {
  return response(z.strictObject({ data: schema }), description, example === undefined ? undefined : { data: example })
}

function converted(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}

export const noContent: AnswerDescription = { description: 'Done.' }

/** A route that deletes or ends something, and answers without content. */
export function deletion(
  summary: string,
  tag: string,
  rest: Pick<RouteDescription, 'parameters' | 'errors'> = {},
): RouteDescription {
  return { summary, tag, ...rest, answers: { '204': noContent } }
}

/** A list of a built-in collection. */
export function listOf(of: string, tag: string): RouteDescription {
  return {
    summary: `List ${words(of)}`,
    tag,
    asks: { kind: 'list', of },
    answers: { '200': { description: 'The list.', schema: { kind: 'list', of } } },
  }
}

/** One item of a built-in collection. */
export function oneOf(of: string, tag: string): RouteDescription {
  return {
    summary: `Read one of the ${words(of)}`,
    tag,
    asks: { kind: 'item', of },
    answers: { '200': item(of, 'The one.') },
  }
}

export function item(of: string, description: string, meta?: z.ZodType): AnswerDescription {
  return { description, schema: { kind: 'item', of, ...(meta !== undefined && { meta: converted(meta, 'output') }) } }
}

function words(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
}

export const parameter = (name: string, description: string, schema: JsonSchema, required = {}): JsonSchema => ({
  name,
  in: 'query',
  description,
  ...required,
  schema,
})
