/** A connector that does what its request says; the Deno process of connector-host.node.test.ts. */
const acts = {
  answer: () => 'answer',
  pid: () => import('node:process').then(({ pid }) => [pid]),
  late: () => new Promise((resolve) => setTimeout(() => resolve('late'), 1_000)),
  wait: () => new Promise((resolve) => setTimeout(resolve, 60_000)),
  loop() {
    for (;;);
  },
  heap() {
    const kept = []
    for (;;) kept.push({ value: new Array(1_000).fill(Math.random()) })
  },
  buffers() {
    const kept = []
    for (;;) kept.push(new Uint8Array(16_000_000).fill(1))
  },
  huge: () => 'x'.repeat(40_000_000),
  worker: () => new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])), { type: 'module' }).toString(),
  thread: () => import('node:worker_threads').then(({ Worker: Thread }) => `${new Thread('1', { eval: true })}`),
  exit: () => import('node:process').then(({ exit }) => exit(0)),
  async flood() {
    const text = new TextEncoder().encode('x'.repeat(1_000_000))
    for (;;) Deno.stdout.writeSync(text)
  },
  forge() {
    const answer = JSON.stringify({ id: 1, reply: { kind: 'value', value: 'forged' } })
    console.log(answer)
    const forged = [answer, `\n${answer}\n`, `\n${'0'.repeat(32)} ${answer}\n`, 'no end of line']
    for (const text of forged) Deno.stdout.writeSync(new TextEncoder().encode(text))
    return 'real'
  },
  tamper() {
    const seen = []
    const look = (text) => /^\s*[0-9a-f]{32} /.test(text) && seen.push(text)
    const { encode } = TextEncoder.prototype
    const { writeSync } = Object.getPrototypeOf(Deno.stdout)
    TextEncoder.prototype.encode = function (text) {
      look(text)
      return encode.call(this, text)
    }
    Object.getPrototypeOf(Deno.stdout).writeSync = function (bytes) {
      look(new TextDecoder().decode(bytes))
      return writeSync.call(this, bytes)
    }
    String.prototype.concat = look
    Object.defineProperty(Object.prototype, 'token', { set: look, configurable: true })
    return new Promise((resolve) => setTimeout(() => resolve(seen), 50))
  },
  async float() {
    void Promise.reject(new Error('nobody waits'))
    setTimeout(() => {
      throw new Error('nobody catches')
    })
    await new Promise((resolve) => setTimeout(resolve, 50))
    return 'floated'
  },
  spin() {
    const burn = () => {
      const end = Date.now() + 5
      while (Date.now() < end);
      setTimeout(burn)
    }
    burn()
    return 'spinning'
  },
}
export const preflight = () => ({ permissions: [] })
export const setup = () => ({ introspect() {}, query: ({ act }) => acts[act]() })
