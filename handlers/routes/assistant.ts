/** `/api/{workspace}/ai`: the console's assistant, its settings, conversations and waiting calls (docs/contract.md#assistant). */
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import type { AssistantHandlers } from '../assistant/handlers.ts'
import { type App, type Handler, mount } from '../http/mount.ts'

/** Loads the assistant on the first request, because most instances have none. */
export function mountAssistant(app: App, services: Services): void {
  const handlers = lazily(async () => {
    const { createAssistantHandlers } = await import('../assistant/handlers.ts')
    return createAssistantHandlers({ services, assistant: await services.assistant() })
  })
  const late =
    (name: keyof AssistantHandlers): Handler =>
    async (c) =>
      (await handlers())[name](c)

  mount(app, '/api/system/ai/usage', { GET: late('readUsage') })
  mount(app, '/api/:workspace/ai/settings', { GET: late('readSettings'), PATCH: late('changeSettings') })
  mount(app, '/api/:workspace/ai/conversations', { GET: late('listConversations') })
  mount(app, '/api/:workspace/ai/conversations/:id', {
    GET: late('readConversation'),
    PATCH: late('changeConversation'),
    DELETE: late('deleteConversation'),
  })
  mount(app, '/api/:workspace/ai/chat', { POST: late('chat') })
  mount(app, '/api/:workspace/ai/approvals/:id', { POST: late('decide') })
}
