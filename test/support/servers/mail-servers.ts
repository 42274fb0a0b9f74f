/**
 * What mails are sent to in tests: a real SMTP server and an HTTP endpoint, on random ports of this machine. Both refuse
 * mails to addresses that begin with `refused`.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json, text as textOf } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

export type Received = {
  readonly from: string
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
  /** As whom the sender signed in. */
  readonly credentials: string | undefined
}

export type MailServer = { readonly url: string; readonly close: () => Promise<void> }

/** `url` holds credentials, which the server asks for. */
export async function startSmtpServer(onMail: (mail: Received) => void): Promise<MailServer> {
  const server = new SMTPServer({
    logger: false,
    onAuth: ({ username, password }, _session, done) =>
      password === 'pass word' ? done(null, { user: username ?? '' }) : done(new Error('Invalid login')),
    onRcptTo: ({ address }, _session, done) =>
      done(address.startsWith('refused') ? new Error('No such mailbox') : null),
    onData(stream, { envelope, user }, done) {
      void textOf(stream).then((raw) => {
        const { subject, text } = parse(raw)
        const to = envelope.rcptTo.map(({ address }) => address)
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
        onMail({ from, to, subject, text, credentials: user === undefined ? undefined : String(user) })
        done()
      })
    },
  })
  // A client that breaks off is nothing to end the tests for.
  server.on('error', () => {})
  const listener = server.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  return {
    url: `smtp://robot:pass%20word@127.0.0.1:${port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

export async function startMailEndpoint(onMail: (mail: Received) => void): Promise<MailServer> {
  const server = createServer(async (request, response) => {
    const mail = (await json(request)) as { from: string; to: string; subject: string; text: string }
    const isRefused = mail.to.startsWith('refused')
    if (!isRefused) onMail({ ...mail, to: [mail.to], credentials: request.headers.authorization })
    response.writeHead(isRefused ? 422 : 202).end(JSON.stringify({ repeated: mail }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://:pass%20word@127.0.0.1:${port}/mails?tag=tests`,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** Subject and text of a mail of one part. */
function parse(raw: string): { readonly subject: string; readonly text: string } {
  const end = raw.indexOf('\r\n\r\n')
  const headers = raw.slice(0, end).replaceAll(/\r\n[ \t]+/g, ' ')
  const body = raw.slice(end + 4)
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(headers)?.[1] ?? ''
  return {
    subject: header('Subject').replaceAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=\s*/gi, (_, how: string, word: string) =>
      decoded(how.toUpperCase() === 'B' ? 'base64' : 'quoted-printable', word.replaceAll('_', ' ')),
    ),
    text: decoded(header('Content-Transfer-Encoding'), body).replaceAll('\r\n', '\n').replace(/\n$/, ''),
  }
}

function decoded(encoding: string, text: string): string {
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString()
  if (encoding !== 'quoted-printable') return text
  const bytes = text
    .replaceAll(/=\r?\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
