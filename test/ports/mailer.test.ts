/** The laws of the Mailer port, for every adapter, against real servers; and what is told of a mail that is not sent. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openMailer } from '../../src/platform/mailer.ts'
import { openSmtpMailer } from '../../src/platform/node/smtp-mailer.ts'
import type { Mail, Mailer } from '../../src/ports/accounts.ts'
import type { Observation } from '../../src/ports/observe.ts'
import { type MailServer, type Received, startMailEndpoint, startSmtpServer } from '../support/servers/mail-servers.ts'

const mail: Mail = {
  to: 'ada@example.com',
  subject: 'Your password — für Ådä 🔑',
  text: `Plain words.\n.\n..a line of dots\nhttps://example.com/?token=${'x'.repeat(200)}\n\nÜnïcödé ✓`,
}

describe.each([
  ['smtp', startSmtpServer, 'robot'],
  ['http', startMailEndpoint, 'Bearer pass word'],
])('the mailer by %s', (_kind, start, credentials) => {
  const received: Received[] = []
  let server: MailServer
  let mailer: Mailer

  beforeAll(async () => {
    server = await start((got) => received.push(got))
    mailer = mailerOf(server.url).mailer
  })
  afterAll(() => server?.close())

  it('delivers sender, receiver, subject and every character of the text', async () => {
    await mailer.send(mail)

    expect(received.splice(0)).toEqual([
      {
        from: expect.stringContaining('data@example.com'),
        to: [mail.to],
        subject: mail.subject,
        text: mail.text,
        credentials,
      },
    ])
  })

  it('takes an address as one address', async () => {
    await Promise.allSettled([mailer.send({ ...mail, to: 'ada@example.com, eve@example.com' })])

    expect(received.splice(0).flatMap(({ to }) => to)).not.toContain('eve@example.com')
  })

  it('keeps a subject of several lines out of the headers', async () => {
    await mailer.send({ ...mail, subject: 'Hello\r\nBcc: eve@example.com' })

    expect(received.splice(0)).toMatchObject([{ to: [mail.to] }])
  })

  it('throws where the mail is refused, without a word of its text', async () => {
    const error = await failure(mailer.send({ ...mail, to: 'refused@example.com' }))

    expect(JSON.stringify([error.message, error.stack])).not.toContain('token=')
    expect(received).toEqual([])
  })

  it('throws where nobody listens, without its credentials', async () => {
    const other = await start(() => {})
    await other.close()

    const error = await failure(mailerOf(other.url).mailer.send(mail))

    expect(JSON.stringify([error.message, error.stack])).not.toMatch(/pass word|pass%20word|token=/)
  })
})

describe('the mailer of the local run', () => {
  it('prints the mail', async () => {
    const { mailer, observed } = mailerOf('log:')

    await mailer.send(mail)

    expect(observed).toEqual([{ kind: 'mail', mail }])
  })
})

describe('without SERVICE_MAIL__URL', () => {
  it('a mail is not sent, and that is told without a word of it', async () => {
    const { mailer, observed } = mailerOf(undefined)

    await mailer.send(mail)

    expect(observed).toEqual([{ kind: 'warning', message: 'A mail was not sent: SERVICE_MAIL__URL is not set' }])
  })
})

describe('on Workers', () => {
  it('an smtp address is refused', () => {
    const settings = { ...unset, SERVICE_MAIL__URL: 'smtp://mail.example.com' }

    expect(() => openMailer({ settings, observe: () => {}, openSmtp: undefined })).toThrow(
      'must be an https address on Workers',
    )
  })
})

const unset = { SERVICE_MAIL__URL: undefined, SERVICE_MAIL__FROM: undefined, SERVICE_BASE_URL: undefined }

function mailerOf(url: string | undefined): { readonly mailer: Mailer; readonly observed: readonly Observation[] } {
  const observed: Observation[] = []
  const settings = { ...unset, SERVICE_MAIL__URL: url, SERVICE_MAIL__FROM: 'Data service <data@example.com>' }
  const observe = (observation: Observation) => void observed.push(observation)
  return { mailer: openMailer({ settings, observe, openSmtp: openSmtpMailer }), observed }
}

async function failure(sending: Promise<void>): Promise<Error> {
  const [end] = await Promise.allSettled([sending])
  if (end.status === 'fulfilled') throw new Error('the mail was accepted')
  return end.reason as Error
}
