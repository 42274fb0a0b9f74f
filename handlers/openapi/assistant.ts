/** The assistant of the console in the OpenAPI document of the system. */
import * as z from 'zod'
import { connectors, dataLevels } from '../../src/core/assistant/choices.ts'
import type { RouteDescriptions } from '../../src/core/openapi/system.ts'
import * as assistant from '../assistant/handlers.ts'
import { EVENTS } from '../http/answer.ts'
import { data, deletion, requestBody, response } from './describe.ts'

const tag = 'Assistant'

const settings = z.strictObject({
  connector: z.enum(connectors).nullable(),
  connectorOptions: z.strictObject({ address: z.string().optional() }),
  chatModel: z.string().nullable(),
  fastModel: z.string().nullable(),
  chatReasoningEnabled: z.boolean(),
  chatReasoningLevel: z.string().nullable(),
  dataLevel: z.enum(dataLevels),
  limits: z.strictObject({
    requestsPerUser: z.int(),
    tokensPerUser: z.int(),
    requests: z.int(),
    tokens: z.int(),
  }),
  hasCredentials: z.boolean(),
  mayChooseProvider: z.boolean(),
  usage: z.array(z.strictObject({ day: z.iso.date(), requests: z.int(), tokens: z.int(), users: z.int() })),
})

const listed = {
  id: z.uuid(),
  title: z.string(),
  allowsWrites: z.boolean(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
}
const call = z.strictObject({ id: z.string(), tool: z.string(), arguments: z.string() })
const entry = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('user'), text: z.string() }),
  z.strictObject({ kind: z.literal('assistant'), text: z.string(), calls: z.array(call) }),
  z.strictObject({ kind: z.literal('result'), callId: z.string(), text: z.string(), isError: z.boolean() }),
  z.strictObject({ kind: z.literal('decision'), tool: z.string(), isApproved: z.boolean() }),
  z.strictObject({ kind: z.literal('outcome'), tool: z.string(), text: z.string(), isError: z.boolean() }),
])
const approval = z.strictObject({
  id: z.uuid(),
  tool: z.string(),
  arguments: z.string(),
  state: z.enum(['pending', 'approved', 'declined', 'expired']),
  expiresAt: z.iso.datetime(),
})
const conversation = z.strictObject({
  ...listed,
  hasRows: z.boolean(),
  entries: z.array(entry),
  approvals: z.array(approval),
})

export const assistantRoutes: RouteDescriptions = {
  'GET /api/system/ai/usage': {
    summary: 'Read what each workspace used of its assistant in the last 30 days',
    tag,
    answers: {
      '200': data(
        z.array(z.strictObject({ workspace: z.string(), requests: z.int(), tokens: z.int(), users: z.int() })),
        'The most tokens first.',
        [{ workspace: 'shop', requests: 12, tokens: 34_000, users: 2 }],
      ),
    },
  },
  'GET /api/{workspace}/ai/settings': {
    summary: 'Read the settings of the assistant, and what was used of it',
    tag,
    answers: { '200': data(settings, 'The settings, without the key.') },
  },
  'PATCH /api/{workspace}/ai/settings': {
    summary: 'Set up the assistant',
    tag,
    body: requestBody(assistant.settingsBody(), {
      connector: 'openai',
      connectorOptions: { address: 'https://models.example.com/v1' },
      connectorCredentials: { apiKey: '<key of the provider>' },
      chatModel: 'a-model',
    }),
    answers: { '200': data(settings, 'The settings, without the key.') },
  },
  'GET /api/{workspace}/ai/conversations': {
    summary: 'List one’s conversations with the assistant',
    tag,
    answers: {
      '200': response(
        z.strictObject({
          data: z.array(z.strictObject(listed)),
          meta: z.strictObject({ isReady: z.boolean() }),
        }),
        'The latest first, and whether the assistant is set up.',
      ),
    },
  },
  'GET /api/{workspace}/ai/conversations/{id}': {
    summary: 'Read one of one’s conversations, with the calls that wait',
    tag,
    answers: { '200': data(conversation, 'All that was said.') },
  },
  'PATCH /api/{workspace}/ai/conversations/{id}': {
    summary: 'Rename a conversation, or let its assistant write without asking',
    tag,
    body: requestBody(assistant.conversationBody(), { title: 'Late flights' }),
    answers: { '200': data(conversation, 'The conversation.') },
  },
  'DELETE /api/{workspace}/ai/conversations/{id}': deletion('Delete a conversation', tag),
  'POST /api/{workspace}/ai/chat': {
    summary: 'Ask the assistant; its answer comes as server-sent events',
    tag,
    body: requestBody(assistant.questionBody(), { message: 'Which flights were late yesterday?' }),
    answers: {
      '200': {
        description: 'Events `conversation`, `text`, `tool`, `approval`, `usage`, `error` and `done`.',
        mediaType: EVENTS,
        schema: { type: 'string' },
      },
    },
    errors: ['conflict', 'throttled'],
  },
  'POST /api/{workspace}/ai/approvals/{id}': {
    summary: 'Approve or decline a call of the assistant',
    tag,
    body: requestBody(assistant.decisionBody(), { approve: true }),
    answers: {
      '200': data(
        z.strictObject({
          state: z.enum(['approved', 'declined']),
          result: z.string().optional(),
          isError: z.boolean().optional(),
        }),
        'What became of it.',
      ),
    },
    errors: ['conflict'],
  },
}
