/** Each call of a request over MCP has the rights of when it begins. */
import { expect, it } from 'vitest'
import { answerMcp, type McpRequest } from '../../handlers/mcp/server.ts'
import { ServiceError } from '../../src/core/error.ts'
import type { AgentTools } from '../../src/services/documents/agents.ts'

it('does no call of an array once the credential is no longer valid', async () => {
  let opened = 0
  const open: McpRequest['open'] = async () => {
    opened += 1
    if (opened > 1) throw new ServiceError('unauthenticated', 'Invalid token')
    return { readDataSources: async () => ({ sources: [] }) } as unknown as AgentTools
  }
  const call = (id: number) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'read_data_sources', arguments: {} },
  })
  const sent = { body: [call(1), call(2)], accept: 'application/json, text/event-stream', version: undefined }

  const { body } = await answerMcp({ open, sent, isAnonymous: false, observe: () => {} })

  expect(JSON.parse(String(body))).toMatchObject([
    { id: 1, result: { structuredContent: { data: { sources: [] } } } },
    { id: 2, result: { isError: true, structuredContent: { error: { message: 'Invalid token' } } } },
  ])
})
