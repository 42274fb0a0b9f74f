/**
 * A socket of Workers as the stream that the drivers of PostgreSQL and MySQL expect. It belongs to the request that
 * connects it. TLS is the platform's: certificates are verified against public authorities, and the name of the host.
 */
import { connect } from 'cloudflare:sockets'
import { Duplex } from 'node:stream'

export type TcpSocketOptions = {
  /** Whether `startTls` will be called; the platform needs to know before it connects. */
  readonly isTls: boolean
}

export class TcpSocket extends Duplex {
  readonly #isTls: boolean
  #socket: Socket | undefined
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  #writer: WritableStreamDefaultWriter<Uint8Array> | undefined
  /** Whether data is wanted that could not be read yet. */
  #isWanted = false

  constructor({ isTls }: TcpSocketOptions) {
    super({ allowHalfOpen: false })
    this.#isTls = isTls
  }

  /** Emits `connect`, or `error` with the code ECONNREFUSED. */
  connect(port: number, hostname: string): this {
    try {
      const socket = connect(
        { hostname, port },
        {
          secureTransport: this.#isTls ? 'starttls' : 'off',
          allowHalfOpen: false,
        },
      )
      this.#attach(socket)
      socket.opened.then(
        () => this.emit('connect'),
        (cause) => this.#fail('ECONNREFUSED', cause),
      )
    } catch (cause) {
      this.#fail('ECONNREFUSED', cause)
    }
    return this
  }

  /** Call when the server has agreed to TLS. Emits `secureConnect`, or `error` with the code ERR_TLS. */
  startTls(): void {
    if (this.#socket === undefined) throw new Error('the socket is not connected')
    this.#reader?.releaseLock()
    this.#writer?.releaseLock()
    const secure = this.#socket.startTls()
    this.#attach(secure)
    secure.opened.then(
      () => this.emit('secureConnect'),
      (cause) => this.#fail('ERR_TLS', cause),
    )
    if (this.#isWanted) this._read()
  }

  #attach(socket: Socket): void {
    this.#socket = socket
    this.#reader = socket.readable.getReader()
    this.#writer = socket.writable.getWriter()
    // Reading and writing tell of a lost connection; these promises would be unhandled.
    socket.closed.catch(ignore)
    this.#reader.closed.catch(ignore)
    this.#writer.closed.catch(ignore)
  }

  override _read(): void {
    const reader = this.#reader
    this.#isWanted = reader === undefined
    reader?.read().then(
      ({ done, value }) => this.push(done ? null : Buffer.from(value.buffer, value.byteOffset, value.byteLength)),
      (cause) => this.#fail('ECONNRESET', cause),
    )
  }

  override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
    if (this.#writer === undefined) done(faultOf('ENOTCONN'))
    else
      this.#writer.write(chunk).then(
        () => done(),
        (cause) => done(faultOf('ECONNRESET', cause)),
      )
  }

  /** One write for what was held back by `cork`. */
  override _writev(chunks: readonly { readonly chunk: Uint8Array }[], done: (error?: Error | null) => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), '', done)
  }

  override _final(done: () => void): void {
    this.#close().then(done, done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#close().catch(ignore)
    done(error)
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  async #close(): Promise<void> {
    const socket = this.#socket
    this.#socket = undefined
    await socket?.close()
  }

  #fail(code: string, cause: unknown): void {
    // What happens after it was closed is of no interest.
    if (!this.destroyed && this.#socket !== undefined) this.destroy(faultOf(code, cause))
  }
}

function faultOf(code: string, cause?: unknown): Error {
  const message = cause instanceof Error ? cause.message : 'the socket is not connected'
  return Object.assign(new Error(message, { cause }), { code })
}

const ignore = () => {}
