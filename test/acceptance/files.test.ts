/** docs/contract.md#files: files under policies, their bytes, and relations to them. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import sharp from 'sharp'
import { expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { createRelation, type Item, type Workspace, world } from '../support/service/world.ts'

const shop = await world.workspace('files', { films: { title: 'string', posterId: 'uuid?' } })
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const fields = ['id', 'fileName', 'fileSize', 'mediaType', 'title', 'description', 'tags', 'createdAt', 'updatedAt']

type Sender = Pick<Workspace, 'send'>

function upload(name: string, body: BodyInit, by: Sender = shop, path = '/assets'): Promise<Response> {
  const search = path.includes('?') ? '&' : '?'
  return by.send('POST', `${path}${search}fileName=${encodeURIComponent(name)}`, { raw: body })
}

async function uploaded(name: string, body: BodyInit, by?: Sender): Promise<Item & { id: string }> {
  const response = await upload(name, body, by)
  const answer = (await response.json()) as { data: Item & { id: string } }
  expect(response.status, JSON.stringify(answer)).toBe(201)
  return answer.data
}

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer())

it('keeps what was uploaded, of the type that it is', async () => {
  const file = await uploaded('Plakat „Größe".png', png)

  expect(Object.keys(file)).toEqual(fields)
  expect(file).toMatchObject({
    fileName: 'Plakat „Größe".png',
    fileSize: png.length,
    mediaType: 'image/png',
    title: null,
    tags: null,
  })
  const content = await shop.get(`/assets/${file.id}`)
  expect(content.status).toBe(200)
  expect(Object.fromEntries(content.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-length': String(png.length),
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    etag: `"${createHash('sha256').update(png).digest('base64url')}"`,
    'content-disposition':
      'inline; filename="Plakat _Gr__e_.png"; filename*=UTF-8\'\'Plakat%20%E2%80%9EGr%C3%B6%C3%9Fe%22.png',
  })
  expect(await bytesOf(content)).toEqual(png)
})

it('keeps files of more than one part, and none', async () => {
  const large = randomBytes(17 * 1024 ** 2)
  const [file, empty] = [await uploaded('large.bin', large), await uploaded('empty', '')]

  expect([file.fileSize, empty.fileSize]).toEqual([large.length, 0])
  const whole = await shop.get(`/assets/${file.id}`)
  expect(whole.headers.get('content-length')).toBe(String(large.length))
  expect((await bytesOf(whole)).equals(large)).toBe(true)
  const range = await shop.send('GET', `/assets/${file.id}`, { headers: { Range: 'bytes=8388600-16777300' } })
  expect([range.status, range.headers.get('content-range')]).toEqual([206, `bytes 8388600-16777300/${large.length}`])
  expect((await bytesOf(range)).equals(large.subarray(8_388_600, 16_777_301))).toBe(true)
  expect(await (await shop.get(`/assets/${empty.id}`)).text()).toBe('')
})

it('sends the ranges that are asked for', async () => {
  const { id } = await uploaded('letters.txt', 'abcdefghij')
  const asked = async (headers: Record<string, string>, method = 'GET') => {
    const response = await shop.send(method, `/assets/${id}`, { headers })
    return [response.status, response.headers.get('content-range'), await response.text()]
  }
  const { headers } = await shop.get(`/assets/${id}`)
  const tag = headers.get('etag') ?? ''

  expect(await asked({ Range: 'bytes=2-4' })).toEqual([206, 'bytes 2-4/10', 'cde'])
  expect(await asked({ Range: 'bytes=-3' })).toEqual([206, 'bytes 7-9/10', 'hij'])
  expect(await asked({ Range: 'bytes=7-' })).toEqual([206, 'bytes 7-9/10', 'hij'])
  expect(await asked({ Range: 'bytes=10-' })).toEqual([416, 'bytes */10', expect.stringContaining('10 bytes')])
  expect(await asked({ Range: 'pages=1-2' })).toEqual([200, null, 'abcdefghij'])
  expect(await asked({ Range: 'bytes=2-4', 'If-Range': '"other"' })).toEqual([200, null, 'abcdefghij'])
  for (const other of [`W/${tag}`, new Date().toUTCString(), '*', `${tag}, ${tag}`]) {
    expect(await asked({ Range: 'bytes=2-4', 'If-Range': other }), other).toEqual([200, null, 'abcdefghij'])
  }
  expect(await asked({ Range: 'bytes=2-4', 'If-Range': tag })).toEqual([206, 'bytes 2-4/10', 'cde'])
  expect(await asked({ 'If-None-Match': tag })).toEqual([304, null, ''])
  expect(await asked({ Range: 'bytes=2-4' }, 'HEAD')).toEqual([200, null, ''])
  const [status, , text] = await asked({ Range: 'bytes=0-1,5-6' })
  expect(status).toBe(206)
  expect(text).toMatch(
    /^\r\n--(\S+)\r\nContent-Type: text\/plain; charset=utf-8\r\nContent-Range: bytes 0-1\/10\r\n\r\nab\r\n--\1\r\n[\s\S]*\r\n\r\nfg\r\n--\1--\r\n$/,
  )
})

it('sends images in small, which go with their originals', async () => {
  const photo = await sharp({ create: { width: 300, height: 600, channels: 3, background: 'teal' } })
    .withExif({ IFD0: { Copyright: 'Ada' }, IFD3: { GPSLatitude: '52/1 31/1 0/1' } })
    .jpeg()
    .withMetadata({ orientation: 6 })
    .toBuffer()
  const { id } = await uploaded('photo.jpg', photo)
  const asked = (preset: unknown, headers: Record<string, string> = {}, method = 'GET') =>
    shop.send(method, `/assets/${id}?preset=${preset}`, { headers })

  const answer = await asked(256)
  const small = await bytesOf(answer)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'image/webp',
    'content-length': String(small.length),
    'content-disposition': 'inline; filename="photo.webp"',
    etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
  })
  const { format, width, height, exif } = await sharp(small).metadata()
  expect({ format, width, height, exif }).toEqual({ format: 'webp', width: 256, height: 128, exif: undefined })
  const { width: whole } = await sharp(await bytesOf(await asked(2048))).metadata()
  expect(whole).toBe(600)
  expect((await bytesOf(await asked(256))).equals(small)).toBe(true)
  const tag = answer.headers.get('etag') ?? ''
  expect((await asked(256, { 'If-None-Match': tag })).status).toBe(304)
  expect((await bytesOf(await asked(256, { Range: 'bytes=4-9' }))).equals(small.subarray(4, 10))).toBe(true)
  expect((await asked(256, {}, 'HEAD')).headers.get('content-length')).toBe(String(small.length))
  const link = await (await shop.send('POST', `/assets/${id}/link`, { body: {} })).json()
  const linked = await fetch(`${(link as { data: { url: string } }).data.url}&preset=256`)
  expect([linked.status, linked.headers.get('etag')]).toEqual([200, tag])
  for (const wrong of ['65', '0', '', '64&preset=128']) expect((await asked(wrong)).status).toBe(422)

  await upload('other.png', png, { send: (_, path, body) => shop.send('PUT', path, body) }, `/assets/${id}`)
  expect((await sharp(await bytesOf(await asked(256))).metadata()).width).toBe(1)
})

it('sends the original of what cannot be made small', async () => {
  const originals = {
    'a.svg': Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
    'a.txt': Buffer.from('text'),
    'cut.png': png.subarray(0, 50),
  }
  for (const [name, bytes] of Object.entries(originals)) {
    const { id } = await uploaded(name, bytes)
    expect((await bytesOf(await shop.get(`/assets/${id}?preset=64`))).equals(bytes), name).toBe(true)
  }
})

it('shows nothing that a browser would run', async () => {
  const script = '<script>alert(1)</script>'
  const sent = {
    'a.html': script,
    'a.svg': `<svg xmlns="http://www.w3.org/2000/svg">${script}</svg>`,
    'a.js': 'alert(1)',
  }
  const types: unknown[] = []
  for (const [name, text] of Object.entries(sent)) {
    const { id, mediaType } = await uploaded(name, text)
    const { headers } = await shop.get(`/assets/${id}`)
    types.push([mediaType, headers.get('content-type'), headers.get('content-disposition')])
  }

  expect(types).toEqual([
    ['text/html', 'application/octet-stream', 'attachment; filename="a.html"'],
    ['image/svg+xml', 'application/octet-stream', 'attachment; filename="a.svg"'],
    ['text/javascript', 'application/octet-stream', 'attachment; filename="a.js"'],
  ])
})

it('takes a form of several files, all or none', async () => {
  const form = (...names: string[]) => {
    const made = new FormData()
    for (const name of names) made.append('file', new Blob([name]), name)
    return made
  }
  const before = await shop.data('/items/ServiceFile?fields=id&limit=1000')

  const refused = await shop.send('POST', '/assets', { raw: form('one.txt', '..') })
  expect([refused.status, await refused.json()]).toMatchObject([
    422,
    { message: 'Failed to read the file: file: must not be ..' },
  ])
  expect(await shop.data('/items/ServiceFile?fields=id&limit=1000')).toEqual(before)
  const one = await shop.send('POST', '/assets?fields=fileName', { raw: form('one.txt') })
  const two = await shop.send('POST', '/assets?fields=fileName', { raw: form('one.txt', 'two.txt') })
  expect([await one.json(), await two.json()]).toEqual([
    { data: { fileName: 'one.txt' } },
    { data: [{ fileName: 'one.txt' }, { fileName: 'two.txt' }] },
  ])
})

it.each([
  ['', 'must be given'],
  ['..', 'must not be ..'],
  ['a/b', 'must not have a slash'],
  ['a\u202eb', 'must not have control characters: "a\u202eb"'],
  ['a\nb', 'must not have control characters: "a\\nb"'],
  ['a\r\nSet-Cookie: b', 'must not have control characters: "a\\r\\nSet-Cookie: b"'],
  ['ä'.repeat(128), 'is longer than 255 bytes'],
])('refuses the name %j', async (name, reason) => {
  const response = await upload(name, 'text')

  expect([response.status, await response.json()]).toMatchObject([
    422,
    { source: { message: 'fileName', source: { message: reason } } },
  ])
})

it.each([
  ['%ff', 'is not valid UTF-8'],
  ['a%ed%a0%80', 'is not valid UTF-8'],
  ['100%', 'is not valid percent-encoding'],
])('refuses the name %s as it refuses such texts elsewhere in an address', async (name, reason) => {
  const { id } = await uploaded('letter.txt', 'Dear')
  const refused = [
    await shop.send('POST', `/assets?fileName=${name}`, { raw: 'text' }),
    await shop.send('PUT', `/assets/${id}?fileName=${name}`, { raw: 'text' }),
    await shop.get(`/assets/${id}?download=${name}`),
    await shop.get(`/assets/${id}?link=${name}`),
  ]

  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 400])
  expect(await Promise.all(refused.map((response) => response.json()))).toMatchObject(
    ['fileName', 'fileName', 'download', 'link'].map((place) => ({
      source: { message: place, source: { message: reason } },
    })),
  )
  expect((await shop.get(`/items/ServiceFile/${id}?fields=fileName`)).status).toBe(200)
})

it('refuses a compressed body, and the creation of an item without bytes', async () => {
  const compressed = await shop.send('POST', '/assets?fileName=a', {
    raw: 'x',
    headers: { 'Content-Encoding': 'gzip' },
  })
  const item = await shop.post('/items/ServiceFile', [{ fileName: 'a' }])
  const batch = await shop.post('/items', { operations: [{ create: 'ServiceFile', data: [{ title: 'a' }] }] })

  expect([compressed.status, item.status]).toEqual([415, 403])
  expect(batch.status).toBeGreaterThanOrEqual(400)
})

it('changes what people say of a file, and nothing that it is', async () => {
  const { id } = await uploaded('letter.txt', 'Dear')

  const many = await shop.patch(`/items/ServiceFile/${id}`, { tags: ['x'.repeat(65_536)] })
  const changed = await shop.patch(`/items/ServiceFile/${id}`, { title: 'A letter', tags: ['old'] })
  const refused = await shop.patch(`/items/ServiceFile/${id}`, { fileSize: 1 })

  const tooLong = 'tags must be at most 65536 characters long'
  expect(await many.json()).toMatchObject({ source: { meta: { fields: ['tags'] }, source: { message: tooLong } } })
  expect(await changed.json()).toMatchObject({ data: { title: 'A letter', tags: ['old'], fileName: 'letter.txt' } })
  expect(refused.status).toBe(422)
  expect((await shop.patch(`/items/ServiceFile/${id}`, { contentKey: randomUUID() })).status).toBe(422)
})

it('replaces the bytes of a file that nobody else has replaced', async () => {
  const { id } = await uploaded('letter.txt', 'Dear')
  const tag = (await shop.get(`/assets/${id}`)).headers.get('etag') ?? ''
  const replace = (text: string, headers = {}) =>
    shop.send('PUT', `/assets/${id}?fileName=new.md&fields=fileName,mediaType,fileSize`, { raw: text, headers })

  const first = await replace('Dear all', { 'If-Match': tag })
  const second = await replace('Dear nobody', { 'If-Match': tag })

  expect([first.status, await first.json()]).toEqual([
    200,
    { data: { fileName: 'new.md', mediaType: 'text/markdown', fileSize: 8 } },
  ])
  expect([second.status, await second.json()]).toMatchObject([412, { code: '4120' }])
  expect(await (await shop.get(`/assets/${id}`)).text()).toBe('Dear all')
  expect((await shop.send('PUT', `/assets/${randomUUID()}?fileName=a`, { raw: 'x' })).status).toBe(404)
})

it('sends bytes exactly to those who read the row', async () => {
  const reader = await people.member(shop, {
    collections: {
      ServiceFile: {
        read: { fields: ['id', 'title'], filter: { mediaType: 'text/plain' } },
        create: { validation: { fileSize: { _lt: 10 } } },
      },
    },
  })
  const [letter, picture] = [await uploaded('letter.txt', 'Dear'), await uploaded('picture.png', png)]

  expect((await reader.get(`/assets/${letter.id}`)).status).toBe(200)
  expect((await reader.get(`/assets/${picture.id}`)).status).toBe(404)
  expect((await shop.anonymous.get(`/assets/${letter.id}`)).status).toBe(403)
  const made = await upload('mine.txt', 'short', reader)
  expect([made.status, await made.json()]).toMatchObject([201, { data: { title: null } }])
  expect((await upload('mine.txt', 'much too long', reader)).status).toBe(422)
  expect((await reader.send('PUT', `/assets/${letter.id}?fileName=a`, { raw: 'x' })).status).toBe(403)
  expect((await upload('a.txt', 'x', shop.anonymous)).status).toBe(403)
})

it('sends the name of a file to those who see it, and in the links of those alone', async () => {
  const secret = await uploaded('layoffs.png', png)
  const open = await uploaded('menu.png', png)
  const reader = await people.memberWith(shop, [
    await people.roleWith(shop, { collections: { ServiceFile: { read: { fields: ['id'] } } } }),
    await people.roleWith(shop, {
      collections: { ServiceFile: { read: { fields: ['fileName'], filter: { id: open.id } } } },
    }),
  ])
  const dispositionOf = (response: Response) => response.headers.get('content-disposition')
  const seenBy = async (by: Sender, id: string) => {
    const made = await by.send('POST', `/assets/${id}/link`, { body: {} })
    const { pathname, search } = new URL(((await made.json()) as { data: { url: string } }).data.url)
    const answers = await Promise.all([
      by.send('GET', `/assets/${id}`),
      by.send('HEAD', `/assets/${id}?preset=64`),
      world.anonymous.get(`${pathname}${search}`),
    ])
    for (const answer of answers) await answer.arrayBuffer()
    return answers.map(dispositionOf)
  }
  const named = (name: string) => `inline; filename="${name}"`

  expect(await seenBy(reader, secret.id)).toEqual(['inline', 'inline', 'inline'])
  expect(await seenBy(reader, open.id)).toEqual([
    named('menu.png'),
    expect.stringContaining('menu.'),
    named('menu.png'),
  ])
  expect((await seenBy(shop, secret.id))[0]).toBe(named('layoffs.png'))
})

it('relates items to files', async () => {
  const ids = new Map([...shop.ids, ['ServiceFile', FILES], ['ServiceFile.id', FILES_ID]])
  const migrated = await shop.migrate(createRelation(ids, 'films.poster(posterId) -> ServiceFile.films'))
  expect([migrated.status, await migrated.text()]).toMatchObject([200, expect.anything()])
  const poster = await uploaded('poster.png', png)

  await shop.insert('films', [{ title: 'Metropolis', poster: { _connect: { key: { id: poster.id } } } }])

  expect(await shop.data('/items/films?fields=title,poster.fileName')).toEqual([
    { title: 'Metropolis', poster: { fileName: 'poster.png' } },
  ])
  expect(await shop.data(`/items/ServiceFile/${poster.id}?fields=films.title`)).toEqual({
    films: { data: [{ title: 'Metropolis' }] },
  })
  expect((await shop.delete(`/items/ServiceFile/${poster.id}`)).status).toBe(422)
  await shop.patch('/items/films/1', { posterId: null })
  expect((await shop.delete(`/items/ServiceFile/${poster.id}`)).status).toBe(204)
  expect((await shop.get(`/assets/${poster.id}`)).status).toBe(404)
})

const gallery = {
  id: 'uuid auto',
  title: 'string',
  cover: { to: 'ServiceFile', opposite: 'coverOf', onDelete: 'restrict' },
  pictures: { many: 'ServiceFile' },
}

it('makes file fields of a model file, which stay through an introspection', async () => {
  const own = await world.workspace('file_fields', {})
  const model = { version: 1, collections: { galleries: { fields: gallery } } }
  const { data } = (await (await own.post('/schema/plan', { model })).json()) as { data: { plan: string } }

  const applied = await own.post('/schema/apply', { model, plan: data.plan })

  expect([applied.status, await applied.text()]).toMatchObject([200, expect.anything()])
  const fileText = async () => (await own.get('/schema/model?ids=false')).text()
  const before = await fileText()
  expect(JSON.parse(before)).toMatchObject({ collections: { galleries: { fields: gallery } } })
  const introspected = await own.post(`/schema/introspect/${own.sourceId}`, {})
  expect([introspected.status, await introspected.json()]).toMatchObject([200, { data: { operations: [] } }])
  expect(await fileText()).toBe(before)
  const [one, two] = [await uploaded('one.png', png, own), await uploaded('two.png', png, own)]
  await own.insert('galleries', [
    {
      title: 'Spring',
      cover: { _connect: { key: { id: one.id } } },
      pictures: [{ _connect: { keys: [{ id: two.id }, { id: one.id }] } }],
    },
  ])
  expect(
    await own.data(
      '/items/galleries?fields=cover.fileName,pictures.fileName&deep[pictures][_sort][0][fileName][direction]=asc',
    ),
  ).toEqual([
    { cover: { fileName: 'one.png' }, pictures: { data: [{ fileName: 'one.png' }, { fileName: 'two.png' }] } },
  ])
  expect(await own.data(`/items/ServiceFile/${two.id}?fields=galleries.title`)).toEqual({
    galleries: { data: [{ title: 'Spring' }] },
  })
  expect((await own.delete(`/items/ServiceFile/${one.id}`)).status).toBe(422)
  const without = { version: 1, collections: {} }
  const plan = ((await (await own.post('/schema/plan', { model: without })).json()) as { data: { plan: string } }).data
  expect((await own.post('/schema/apply', { model: without, plan: plan.plan, allow: ['drop'] })).status).toBe(200)
  expect((await own.delete(`/items/ServiceFile/${one.id}`)).status).toBe(204)
})

it('takes a large file in parts, in any order and again, and makes it once', async () => {
  const bytes = randomBytes(9 * 1024 ** 2)
  const [first, rest] = [bytes.subarray(0, 8 * 1024 ** 2), bytes.subarray(8 * 1024 ** 2)]
  const sha256 = createHash('sha256').update(bytes).digest('base64')
  const begun = await shop.post('/assets/uploads', { fileName: 'film.bin', fileSize: bytes.length, sha256 })
  const { data } = (await begun.json()) as { data: { id: string; partSize: number } }
  const at = `/assets/uploads/${data.id}`
  const put = async (number: number, raw: Uint8Array) => (await shop.send('PUT', `${at}/${number}`, { raw })).status

  expect([begun.status, data.partSize]).toEqual([201, first.length])
  expect(await put(2, rest)).toBe(204)
  expect(await put(2, rest)).toBe(204)
  expect([await put(1, rest), await put(3, rest), await put(0, rest)]).toEqual([422, 422, 422])
  const early = await shop.post(`${at}/complete`, {})
  expect([early.status, await early.json()]).toMatchObject([409, { meta: { missing: [1] } }])
  expect(await shop.data(at)).toMatchObject({ parts: [{ n: 2, size: rest.length }] })
  expect(await put(1, first)).toBe(204)
  const [done, again] = [await shop.post(`${at}/complete`, {}), await shop.post(`${at}/complete`, {})]
  const file = (await done.json()) as { data: { id: string } }
  expect([done.status, file]).toMatchObject([201, { data: { fileName: 'film.bin', fileSize: bytes.length } }])
  expect(await again.json()).toEqual(file)
  expect((await bytesOf(await shop.get(`/assets/${file.data.id}`))).equals(bytes)).toBe(true)
  expect((await shop.send('PUT', `${at}/1`, { raw: first })).status).toBe(404)
})

it('leaves nothing of an upload that is given up, is another one than was told, or is of somebody else', async () => {
  const uploader = await people.member(shop, { collections: { ServiceFile: { create: 'all' } } })
  const upload = { fileName: 'a.txt', fileSize: 4, sha256: createHash('sha256').update('text').digest('base64url') }
  const begin = async () => {
    const response = await uploader.post('/assets/uploads', upload)
    return `/assets/uploads/${((await response.json()) as { data: { id: string } }).data.id}`
  }
  const [wrong, given] = [await begin(), await begin()]

  await uploader.send('PUT', `${wrong}/1`, { raw: 'txet' })
  const refused = await uploader.post(`${wrong}/complete`, {})
  expect([refused.status, await refused.json()]).toMatchObject([422, { source: { message: 'sha256' } }])
  await uploader.send('PUT', `${wrong}/1`, { raw: 'text' })
  expect((await uploader.post(`${wrong}/complete`, {})).status).toBe(201)
  expect((await shop.get(given)).status).toBe(404)
  expect((await shop.post(`${given}/complete`, {})).status).toBe(404)
  expect((await uploader.delete(given)).status).toBe(204)
  expect((await uploader.get(given)).status).toBe(404)
  expect((await uploader.send('PUT', `${given}/1`, { raw: 'text' })).status).toBe(404)
  expect((await shop.anonymous.post('/assets/uploads', upload)).status).toBe(403)
})

it('takes a part of a file for the file by no route', async () => {
  const { id } = await uploaded('letter.txt', 'Dear')
  const part = { raw: new Uint8Array(20 * 1024 ** 2), headers: { 'Content-Range': 'bytes 0-20971519/99999999' } }
  const refused = [
    await shop.send('PUT', `/assets/${id}?fileName=letter.txt`, part),
    await shop.send('POST', '/assets?fileName=letter.txt', part),
    await shop.send('PUT', `/assets/uploads/${randomUUID()}/1`, part),
  ]

  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400])
  expect(await refused[0]?.json()).toMatchObject({ source: { message: 'Content-Range' } })
  expect(await (await shop.get(`/assets/${id}`)).text()).toBe('Dear')
})

it('answers a completed upload again to whoever began it, and to nobody else', async () => {
  const rights = { collections: { ServiceFile: { read: 'all', create: 'all', delete: 'all' } } } as const
  const [uploader, other] = [await people.member(shop, rights), await people.member(shop, rights)]
  const begun = await uploader.post('/assets/uploads', { fileName: 'a.txt', fileSize: 4 })
  const at = `/assets/uploads/${((await begun.json()) as { data: { id: string } }).data.id}`
  const complete = async (by: Sender) => {
    const response = await by.send('POST', `${at}/complete`)
    return [response.status, await response.json()]
  }
  await uploader.send('PUT', `${at}/1`, { raw: 'text' })
  const unmade = await complete(other)
  const [status, { data }] = (await complete(uploader)) as [number, { data: { id: string } }]

  expect([unmade[0], status]).toEqual([404, 201])
  expect(await complete(uploader)).toEqual([201, { data }])
  expect([await complete(other), await complete(shop)]).toEqual([unmade, unmade])
  await other.delete(`/items/ServiceFile/${data.id}`)
  expect(await complete(uploader)).toEqual(unmade)
  await other.send('POST', `/assets/${data.id}/restore`)
  expect([await complete(uploader), await complete(other)]).toMatchObject([[201, { data: { id: data.id } }], unmade])
})

it('never loses the answer of an upload that is completed twice at once', async () => {
  for (let round = 0; round < 10; round += 1) {
    const begun = await shop.post('/assets/uploads', { fileName: 'a.txt', fileSize: 4 })
    const at = `/assets/uploads/${((await begun.json()) as { data: { id: string } }).data.id}`
    await shop.send('PUT', `${at}/1`, { raw: 'text' })
    const answers = await Promise.all([1, 2, 3].map(() => shop.send('POST', `${at}/complete`)))
    const statuses = answers.map(({ status }) => status)

    expect(statuses).toContain(201)
    // The others have the same answer, or come while the first is at work.
    expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([])
  }
})

it('refuses what is too large for one piece, and says where it goes', async () => {
  const response = await upload('large.bin', new Uint8Array(32 * 1024 ** 2 + 1))

  expect([response.status, await response.json()]).toEqual([
    413,
    { message: 'The body is larger than 33554432 bytes: send it in parts, by POST /assets/uploads' },
  ])
})

it('restores a deleted file as it was', async () => {
  const { id } = await uploaded('letter.txt', 'Dear')
  const before = (await (
    await shop.patch(`/items/ServiceFile/${id}`, { title: 'A letter', tags: ['old'] })
  ).json()) as Item
  const reader = await people.member(shop, { collections: { ServiceFile: { read: 'all' } } })
  const sender = await people.member(shop, { collections: { ServiceFile: { read: 'all', create: 'all' } } })
  await shop.delete(`/items/ServiceFile/${id}`)

  expect((await reader.post(`/assets/${id}/restore`, {})).status).toBe(403)
  // Whoever may not delete takes no deletion back.
  expect((await sender.post(`/assets/${id}/restore`, {})).status).toBe(403)
  const restored = await shop.post(`/assets/${id}/restore`, {})
  const { updatedAt: _, ...kept } = before.data as Item
  expect([restored.status, await restored.json()]).toMatchObject([201, { data: kept }])
  expect(await (await shop.get(`/assets/${id}`)).text()).toBe('Dear')
  expect((await shop.post(`/assets/${id}/restore`, {})).status).toBe(404)
  expect((await shop.post(`/assets/${randomUUID()}/restore`, {})).status).toBe(404)
})

it('restores a file once, whoever does it at the same time', async () => {
  const { id } = await uploaded('letter.txt', 'Dear')
  await shop.delete(`/items/ServiceFile/${id}`)

  const answers = await Promise.all(Array.from({ length: 5 }, () => shop.post(`/assets/${id}/restore`, {})))

  expect(answers.map(({ status }) => status).sort()).toEqual([201, 404, 404, 404, 404])
})

it('restores a file for whoever may delete it as it then is', async () => {
  const { id } = await uploaded('plan.txt', 'Ours')
  const rights = { read: 'all', create: 'all', delete: { filter: { title: { _eq: 'Theirs' } } } } as const
  const other = await people.member(shop, { collections: { ServiceFile: rights } })
  const restored = () => other.post(`/assets/${id}/restore`, {})

  await shop.delete(`/items/ServiceFile/${id}`)
  expect((await restored()).status).toBe(403)
  expect((await shop.get(`/items/ServiceFile/${id}`)).status).toBe(404)
  await shop.post(`/assets/${id}/restore`, {})
  await shop.patch(`/items/ServiceFile/${id}`, { title: 'Theirs' })
  expect((await other.delete(`/items/ServiceFile/${id}`)).status).toBe(204)
  expect((await restored()).status).toBe(201)
  expect(await (await other.get(`/assets/${id}`)).text()).toBe('Ours')
})

it('restores no file for whoever would not read it, as they would not find it to delete', async () => {
  const { id } = await uploaded('theirs.txt', 'Theirs')
  const rights = { read: { filter: { fileName: { _eq: 'mine.txt' } } }, create: 'all', delete: 'all' } as const
  const other = await people.member(shop, { collections: { ServiceFile: rights } })
  const answerOf = async (response: Response) => [response.status, await response.json()]
  const unfound = await answerOf(await other.delete(`/items/ServiceFile/${id}`))
  await shop.delete(`/items/ServiceFile/${id}`)

  expect(unfound[0]).toBe(404)
  expect(await answerOf(await other.post(`/assets/${id}/restore`, {}))).toEqual(unfound)
  expect((await shop.get(`/items/ServiceFile/${id}`)).status).toBe(404)
  expect((await shop.post(`/assets/${id}/restore`, {})).status).toBe(201)
})

it('says nothing of a deleted file that its caller would neither read nor create', async () => {
  const { id } = await uploaded('hidden.txt', 'Hidden')
  const mine = { filter: { fileName: { _eq: 'mine.txt' } } }
  const valid = { validation: mine.filter }
  const callers = [
    await people.member(shop, { collections: { ServiceFile: { read: mine, create: valid, delete: 'all' } } }),
    await people.member(shop, { collections: { ServiceFile: { read: mine, create: valid, delete: mine } } }),
    await people.member(shop, { collections: { ServiceFile: { create: valid, delete: 'all' } } }),
    await people.member(shop, {
      collections: { ServiceFile: { read: mine, create: { fields: ['fileName'] }, delete: 'all' } },
    }),
  ]
  await shop.delete(`/items/ServiceFile/${id}`)
  const answers = (of: string) =>
    Promise.all(
      callers.map(async (caller) => {
        const response = await caller.post(`/assets/${of}/restore`, {})
        return [response.status, await response.json()]
      }),
    )

  expect(await answers(id)).toEqual(await answers(randomUUID()))
})

it('makes links that anybody may use for a while', async () => {
  const [file, other] = [await uploaded('letter.txt', 'Dear'), await uploaded('other.txt', 'Other')]
  const reader = await people.member(shop, { collections: { ServiceFile: { read: { filter: { id: other.id } } } } })
  const made = await shop.post(`/assets/${file.id}/link`, { expiresIn: '5m' })
  const { data } = (await made.json()) as { data: { url: string } }
  const { pathname, search } = new URL(data.url)
  const linked = (path: string) => world.anonymous.get(`${path}${search}`)

  const answer = await linked(pathname)
  expect([answer.status, answer.headers.get('cross-origin-resource-policy'), await answer.text()]).toEqual([
    200,
    'cross-origin',
    'Dear',
  ])
  expect((await linked(pathname.replace(file.id, other.id))).status).toBe(404)
  expect((await world.anonymous.get(`${pathname}?link=x`)).status).toBe(404)
  expect((await shop.post(`/assets/${file.id}/link`, { expiresIn: '61m' })).status).toBe(422)
  expect((await reader.post(`/assets/${file.id}/link`, {})).status).toBe(404)
  expect(await shop.data(`/audit-log?filter[targetId]=${file.id}&filter[action]=file.link.v1`)).toMatchObject([
    { actorEmail: world.administrator.email, payload: { expiresAt: expect.any(String) } },
  ])
  await shop.delete(`/items/ServiceFile/${file.id}`)
  expect((await linked(pathname)).status).toBe(404)
})

it('ends a link when its time is over', async () => {
  const { id } = await uploaded('letter.txt', 'Dear')
  const made = await shop.post(`/assets/${id}/link`, { expiresIn: '1s' })
  const { pathname, search } = new URL(((await made.json()) as { data: { url: string } }).data.url)

  await expect.poll(async () => (await world.anonymous.get(`${pathname}${search}`)).status).toBe(404)
})

it('takes a link beside a credential that is right, or a cookie that a browser still has', async () => {
  const { id } = await uploaded('letter.txt', 'Dear')
  const made = await shop.post(`/assets/${id}/link`, {})
  const { pathname, search } = new URL(((await made.json()) as { data: { url: string } }).data.url)
  const answers = [
    ['', { Authorization: `Bearer ${world.administrator.token}` }],
    ['', { Cookie: 'service_session=ended' }],
    ['', { Authorization: 'Bearer wrong' }],
    ['', { Authorization: 'Basic d3Jvbmc6' }],
    ['&access_token=wrong', {}],
  ] as const
  const statuses: number[] = []
  for (const [more, headers] of answers) {
    statuses.push((await fetch(`${world.url}${pathname}${search}${more}`, { headers })).status)
  }

  expect(statuses).toEqual([200, 200, 401, 401, 401])
})

it('lends by a link the bytes of its time, and none that replace them', async () => {
  const { id } = await uploaded('letter.txt', 'Dear')
  const made = await shop.post(`/assets/${id}/link`, {})
  const { pathname, search } = new URL(((await made.json()) as { data: { url: string } }).data.url)

  const replaced = await shop.send('PUT', `/assets/${id}?fileName=letter.txt`, { raw: 'Secret' })

  expect([replaced.status, (await world.anonymous.get(`${pathname}${search}`)).status]).toEqual([200, 404])
})

it('names nothing of the store, in whichever answer', async () => {
  const { id } = await uploaded('letter.txt', 'Dear')
  const begun = await shop.post('/assets/uploads', { fileName: 'b.txt', fileSize: 1 })
  const { id: upload } = ((await begun.json()) as { data: Item }).data
  await shop.send('PUT', `/assets/uploads/${upload}/1`, { raw: 'b' })
  const put = (query: string) => shop.send('PUT', `/assets/${id}?fileName=b&${query}`, { raw: 'b' })
  const answers = await Promise.all([
    ...['contentKey', 'contentHash'].flatMap((field) => [
      shop.send('POST', `/assets?fileName=a&fields=${field}`, { raw: 'a' }),
      put(`fields=${field}`),
      shop.post(`/assets/uploads/${upload}/complete?fields=${field}`, {}),
    ]),
    put(`filter[contentHash][_neq]=a`),
    shop.send('POST', '/assets?fileName=a&conflict[fields]=id', { raw: 'a' }),
  ])

  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 422))
})

it('takes forms by one boundary, which counts their files, and with few headers', async () => {
  const part = (boundary: string, more = '') =>
    `--${boundary}\r\n${more}Content-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\na\r\n`
  const sent = async (type: string, raw: string) => {
    const response = await shop.send('POST', '/assets', {
      raw,
      headers: { 'Content-Type': `multipart/form-data; ${type}` },
    })
    return [response.status, ((await response.json()) as { message?: string }).message]
  }

  expect(await sent('x="; boundary=zz"; boundary=b', `${part('b')}--b--\r\n`)).toEqual([201, undefined])
  expect(await sent('x="; boundary=zz"; boundary=b', `${part('b').repeat(1001)}--b--\r\n`)).toEqual([
    422,
    expect.stringContaining('body: has more than 1000 files'),
  ])
  expect(await sent('boundary=b', `${part('b', 'X: a\r\n'.repeat(10_000))}--b--\r\n`)).toEqual([
    422,
    expect.stringContaining('part 1: has headers that are longer than 4 KiB'),
  ])
  const head = 'Content-Disposition: form-data; name="file"; filename="a.txt"'
  const refused = [
    ['body: is no form', `${part('b')}--b--`.replaceAll('\r\n', '\n')],
    ['part 1: has a line of headers that does not end by CRLF', `--b\r\n${head}\n\na\r\n--b--\r\n`],
    ['part 1: must end before a line that is the boundary alone', `--b\r\n${head}\r\n\r\na\r\n--bc\r\n--b--\r\n`],
    ['part 1: must end before a line that is the boundary alone', `--b\r\n${head}\r\n\r\na\n--b\r\nb\r\n--b--\r\n`],
    ['body: is no form', `${part('b')}--b--\r\nand more`],
    ['body: is no form', `and more${part('b')}--b--\r\n`],
    ['part 1: must end before a line that is the boundary alone', `${part('b')}--b`],
    ['part 1: must end before a line that is the boundary alone', part('b')],
    ['part 1: must have one Content-Disposition', `--b\r\n${head}\r\n${head}\r\n\r\na\r\n--b--\r\n`],
    ['part 1: must not have filename*', `--b\r\n${head}; filename*=UTF-8''b.txt\r\n\r\na\r\n--b--\r\n`],
    ['part 1: must have no Content-Transfer-Encoding', `${part('b', 'Content-Transfer-Encoding: base64\r\n')}--b--`],
  ] as const
  for (const [reason, raw] of refused) {
    const [status, message] = await sent('boundary=b', raw)
    expect([status, raw, message]).toEqual([422, raw, expect.stringContaining(reason)])
  }
  for (const type of ['boundary=a; boundary=b', 'boundary=', `boundary=${'-'.repeat(14_000)}`]) {
    expect(await sent(type, `${part('b')}--b--\r\n`)).toEqual([
      422,
      expect.stringContaining('Content-Type: must name one boundary'),
    ])
  }
})

it('takes the names of a form as browsers and curl write them, and its bytes as they are', async () => {
  const contents = ['x --b y', '--', 'a--b\r\nc', '\r\n', '']
  const names = ['a%22b.txt', 'a\\"b.txt', 'größe 文.txt', 'C:\\x.txt', '100%.txt']
  const head = (name: string) => `--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`
  const form = names.map((name, at) => `${head(name)}${contents[at]}\r\n`).join('')

  const headers = { 'Content-Type': 'multipart/form-data; boundary=b' }
  const made = await shop.send('POST', '/assets?fields=id,fileName', { raw: `${form}--b--\r\n`, headers })

  const { data } = (await made.json()) as { data: readonly { readonly id: string; readonly fileName: string }[] }
  expect(data.map(({ fileName }) => fileName)).toEqual(['a"b.txt', 'a"b.txt', 'größe 文.txt', 'C:\\x.txt', '100%.txt'])
  const bytes = await Promise.all(data.map(async ({ id }) => (await shop.get(`/assets/${id}`)).text()))
  expect(bytes).toEqual(contents)
})

it('takes as many files in a form as a request may create items', async () => {
  const form = new FormData()
  for (let number = 0; number < 1001; number += 1) form.append('file', new Blob(['a']), `${number}.txt`)
  const response = await shop.send('POST', '/assets', { raw: form })

  expect([response.status, await response.json()]).toMatchObject([
    422,
    { message: expect.stringContaining('has more than 1000 files, the items that a request creates at most') },
  ])
})

/** The same in every workspace. */
const FILES = '00000000-0000-0000-0001-000000000400'
const FILES_ID = '00000000-0000-0000-0001-000000000401'

it('records who uploads, changes, replaces, deletes and restores a file, in whichever way', async () => {
  const all = { read: 'all', create: 'all', update: 'all', delete: 'all' }
  const writer = await people.member(shop, { collections: { ServiceFile: all, films: all } })
  const put = (id: string, body: string) => writer.send('PUT', `/assets/${id}?fileName=second.txt`, { raw: body })
  const { id } = await uploaded('first.txt', 'one', writer)
  await writer.patch(`/items/ServiceFile/${id}`, { title: 'First' })
  // What changes nothing is nothing to tell.
  await writer.patch(`/items/ServiceFile/${id}`, { title: 'First' })
  await put(id, 'second')
  await shop.insert('films', [{ title: 'Nosferatu', poster: { _connect: { key: { id } } } }])
  const inner = { poster: [{ _update: { data: { tags: ['old'] } } }] }
  const [film] = (await shop.data('/items/films?fields=id&filter[title]=Nosferatu')) as { id: string }[]
  const nested = await writer.patch(`/items/films/${film?.id}`, inner)
  expect(nested.status, await nested.text()).toBe(200)
  await writer.patch(`/items/films/${film?.id}`, { posterId: null })
  await writer.post('/items', { operations: [{ kind: 'delete', collection: 'ServiceFile', key: { id } }] })
  await writer.post(`/assets/${id}/restore`, {})
  const headers = { 'Idempotency-Key': id }
  for (let time = 0; time < 2; time += 1) {
    const keyed = await writer.send('DELETE', `/items/ServiceFile/${id}`, { headers })
    expect(keyed.status, await keyed.text()).toBe(204)
  }
  const gone = await uploaded('public.txt', 'two')
  await shop.delete(`/items/ServiceFile?filter[id]=${gone.id}`)

  const entriesOf = (target: string) =>
    shop.data(`/audit-log?filter[targetId]=${target}&sort[0][time][direction]=asc`) as Promise<Item[]>
  const entries = await entriesOf(id)
  const of = (fileName: string, fileSize: number, more: object = {}) => ({
    fileName,
    fileSize,
    mediaType: 'text/plain',
    ...more,
  })
  expect(entries.map(({ action, payload }) => [action, payload])).toEqual([
    ['file.create.v1', of('first.txt', 3)],
    ['file.update.v1', of('first.txt', 3, { changed: ['title'] })],
    ['file.update.v1', of('second.txt', 6, { changed: ['fileName', 'content'] })],
    ['file.update.v1', of('second.txt', 6, { changed: ['tags'] })],
    ['file.delete.v1', of('second.txt', 6)],
    ['file.create.v1', of('second.txt', 6, { restored: true })],
    ['file.delete.v1', of('second.txt', 6)],
  ])
  const [workspace] = new Set(entries.map(({ workspaceId }) => workspaceId))
  expect(workspace).toEqual(expect.any(String))
  for (const entry of entries) {
    expect(entry).toMatchObject({
      outcome: 'success',
      actorType: 'user',
      actorId: writer.userId,
      actorEmail: writer.email,
    })
    expect(entry).toMatchObject({ workspaceId: workspace, targetType: 'file', label: expect.stringContaining('File ') })
  }
  expect(await entriesOf(gone.id)).toMatchObject([
    { action: 'file.create.v1', actorEmail: world.administrator.email },
    { action: 'file.delete.v1', actorEmail: world.administrator.email },
  ])
})
