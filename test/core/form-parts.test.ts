/** docs/contract.md#files: the parts of a form of files, and what is none (decision 133). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formBoundary, formParts } from '../../src/core/assets/form-parts.ts'
import { messagesOf, ServiceError } from '../../src/core/error.ts'
import { casesOr } from '../support/run/cases.ts'

/** The chain of messages of what was thrown, and undefined of what was not. */
function faultOf(act: () => unknown): string | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return messagesOf(error).join(': ')
  }
}

describe('the boundary of a form', () => {
  it.each([
    ['multipart/form-data; boundary=abc', 'abc'],
    ['Multipart/Form-Data;BOUNDARY="a b=c"', 'a b=c'],
    [
      'multipart/form-data; charset=utf-8; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW',
      '----WebKitFormBoundary7MA4YWxkTrZu0gW',
    ],
    ['multipart/form-data ; boundary=abc ; charset="utf-8"', 'abc'],
    [`multipart/form-data; boundary=${'-'.repeat(70)}`, '-'.repeat(70)],
  ])('%s is read', (type, boundary) => {
    expect(formBoundary(type)).toBe(boundary)
  })

  it.each(['', 'image/png', 'multipart/form-datas; boundary=abc', 'multipart/mixed; boundary=abc'])(
    '%s is of no form',
    (type) => {
      expect(formBoundary(type)).toBeUndefined()
    },
  )

  it.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary="a "',
    'multipart/form-data; boundary=a; boundary=b',
    'multipart/form-data; x="; boundary=zz"; boundary=b; boundary=c',
    'multipart/form-data; x="; boundary=zz',
    'multipart/form-data; x="\\"; boundary=zz; y="; boundary=b',
    'multipart/form-data; boundary=a, multipart/form-data; boundary=b',
    `multipart/form-data; boundary=${'-'.repeat(71)}`,
    `multipart/form-data; boundary=${'-'.repeat(200_000)}`,
    `multipart/form-data;${' '.repeat(200_000)}`,
  ])('%.80s is refused', (type) => {
    expect(faultOf(() => formBoundary(type))).toContain('Content-Type: must name one boundary')
  })

  it('is that of the last parameter, not of what stands in quotes', () => {
    expect(formBoundary('multipart/form-data; x="; boundary=zz"; boundary=b')).toBe('b')
  })
})

const bytesOf = (text: string) => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const head = 'Content-Disposition: form-data; name="f"; filename="a"\r\n\r\n'
const part = (text: string, boundary = 'b') => `--${boundary}\r\n${head}${text}\r\n`
const fault = (text: string, { boundary = 'b', most = 10 } = {}) =>
  faultOf(() => formParts(bytesOf(text), boundary, most))

describe('the parts of a form', () => {
  const read = (headers: string, content = 'x') =>
    formParts(bytesOf(`--b\r\n${headers}\r\n\r\n${content}\r\n--b--\r\n`), 'b', 1).map(({ name, fileName, bytes }) => [
      name,
      fileName,
      textOf(bytes),
    ])[0]
  const disposition = 'Content-Disposition: form-data; '

  it.each([
    ['of browsers', 'name="f"; filename="a b.txt"', ['f', 'a b.txt']],
    ['in UTF-8', 'name="größe"; filename="文.txt"', ['größe', '文.txt']],
    ['of a field', 'name="f"', ['f', undefined]],
    ['that are empty', 'name=""; filename=""', ['', '']],
    ['without quotes', 'name=f;filename=a.txt', ['f', 'a.txt']],
    ['in another order', 'filename="a"; name="f"', ['f', 'a']],
    ['with other parameters', 'size=1; name="f"; filename="a"', ['f', 'a']],
    ['in capitals', 'NAME="f"; FileName="a"', ['f', 'a']],
    ['with semicolons', 'name="a;b"; filename="; filename=x"', ['a;b', '; filename=x']],
    ['with quotes of browsers', 'name="a%22b"; filename="%22a%22.txt"', ['a"b', '"a".txt']],
    ['with line ends of browsers', 'name="a%0D%0Ab"; filename="a%0d%0a"', ['a\r\nb', 'a\r\n']],
    ['with other per cent signs', 'name="f"; filename="100%.txt%41%2F%00"', ['f', '100%.txt%41%2F%00']],
    ['with quotes of curl', 'name="f"; filename="a\\"b\\".txt"', ['f', 'a"b".txt']],
    ['with a quote of curl at the end', 'name="f\\""; filename="a\\""', ['f"', 'a"']],
    ['with backslashes', 'name="f"; filename="C:\\a\\\\b.txt"', ['f', 'C:\\a\\\\b.txt']],
    ['with a backslash at the end', 'name="f\\"; filename="a\\"', ['f\\', 'a\\']],
  ])('have names %s', (_, parameters, names) => {
    expect(read(disposition + parameters)).toEqual([...names, 'x'])
  })

  it.each(['7bit', '8BIT', 'binary '])('are bytes as they are where they say %s', (encoding) => {
    const headers = `Content-Type: text/plain\r\ncontent-transfer-encoding: ${encoding}\r\n${disposition}name="f"`

    expect(read(headers, 'YQ==')).toEqual(['f', undefined, 'YQ=='])
  })

  it.each([
    'a --b c',
    '--b',
    '--b--',
    'a--b\r\nc',
    '\n--bc',
    'a\n--b c',
    'a\r--b\r\n',
    '\r\n-b\r\n--a\r\n',
    '\r\n',
    '\r\n\r\n',
    '\r',
    '\n',
    '-',
    '',
  ])('have the text of the boundary in them that ends none: %j', (text) => {
    const content = `x${text}`

    expect(read(`${disposition}name="f"`, content)).toEqual(['f', undefined, content])
  })

  const given = `${disposition}name="f"; filename="a"`

  it.each([
    ['', 'must have one Content-Disposition'],
    ['Content-Type: text/plain', 'must have one Content-Disposition'],
    [`${given}\r\n${given}`, 'must have one Content-Disposition'],
    [`${given}\r\ncontent-disposition: attachment`, 'must have one Content-Disposition'],
    ['Content-Disposition: attachment; name="f"', 'must have a Content-Disposition as in form-data'],
    ['Content-Disposition: form-datas; name="f"', 'must have a Content-Disposition as in form-data'],
    [`${disposition}name="f`, 'must have a Content-Disposition as in form-data'],
    [`${disposition}name="f"x`, 'must have a Content-Disposition as in form-data'],
    [`${disposition}name="f"; filename="a"b"`, 'must have a Content-Disposition as in form-data'],
    [`${disposition}name="f";`, 'must have a Content-Disposition as in form-data'],
    [`${disposition}filename="a"`, 'must have a name'],
    ['Content-Disposition: form-data', 'must have a name'],
    [`${disposition}name="f"; name="g"`, 'has name twice'],
    [`${given}; FILENAME="b"`, 'has filename twice'],
    [`${given}; filename*=UTF-8''b`, 'must not have filename*, but filename in UTF-8'],
    [`${disposition}name*=UTF-8''f`, 'must not have name*, but filename in UTF-8'],
    [`${disposition}name="f"; filename*0="a"`, 'must not have filename*0, but filename in UTF-8'],
    [
      `${given}\r\nContent-Transfer-Encoding: base64`,
      'must have no Content-Transfer-Encoding but 7bit, 8bit and binary',
    ],
    [`${given}\r\nContent-Transfer-Encoding: 7bit, base64`, 'must have no Content-Transfer-Encoding but'],
    [`${given}\r\nX`, 'has no header in the line "X"'],
    [`${given}\r\nX : a`, 'has no header in the line "X : a"'],
    [`${disposition}name="f";\r\n filename="a"`, 'has no header in the line " filename'],
    [`${given}\r\nX: a\0b`, 'has no header in the line "X: a\\u0000b"'],
    [`${given}\r\nX: a\rb`, 'has no header in the line "X: a\\rb"'],
    [`${given}\nX: a`, 'has a line of headers that does not end by CRLF'],
    [`${given}\n`, 'has a line of headers that does not end by CRLF'],
    [`${given}\r\nX: ${'a'.repeat(4050)}`, 'has headers that are longer than 4 KiB'],
    [`X: a\r\n`.repeat(1000) + given, 'has headers that are longer than 4 KiB'],
  ])('are refused where parsers differ: %.120j', (headers, reason) => {
    const form = `${part('a')}--b\r\n${headers}${headers === '' ? '\r\n' : '\r\n\r\n'}text\r\n${part('b')}--b--\r\n`

    expect(fault(form)).toContain(`Failed to read the file: part 2: ${reason}`)
  })

  it('have names in UTF-8 alone', () => {
    const form = bytesOf(`${part('a').replace('filename="a"', 'filename="ä"')}--b--`)
    const latin1 = form.filter((byte) => byte !== 0xc3)

    expect(faultOf(() => formParts(latin1, 'b', 1))).toContain('part 1: has headers that are not UTF-8')
  })

  it('are as many as may be', () => {
    const form = `${part('a').repeat(3)}--b--`

    expect(fault(form, { most: 3 })).toBeUndefined()
    expect(fault(form, { most: 2 })).toContain('body: has more than 2 files')
    expect(fault(`${part('text'.repeat(10_000))}--b--\r\n`)).toBeUndefined()
    expect(fault(`${part('a').replace('\r\n\r\n', `\r\nX: ${'a'.repeat(4000)}\r\n\r\n`)}--b--`)).toBeUndefined()
  })
})

describe('what is no form', () => {
  it.each([
    '',
    '--b',
    '--b-',
    '-',
    `${part('a')}--b--\n`,
    `${part('a')}--b--\r\n\r\n`,
    `${part('a')}--b--more`,
    `more\r\n${part('a')}--b--`,
    `\r\n${part('a')}--b--`,
    `--b \r\n${head}a\r\n--b--`,
    `--b\n${head}a\r\n--b--`,
    `${part('a')}--b--`.replaceAll('\r\n', '\n'),
    `${part('a')}--b\n${head}b\r\n--b--`,
  ])('is refused: %j', (form) => {
    expect(fault(form)).toContain('body: is no form of multipart/form-data')
  })

  it.each([
    part('a'),
    `${part('a')}--b`,
    `${part('a')}--b\r`,
    `${part('a')}--b- `,
    `--b\r\n${head}--b--`,
    `--b\r\n${head}--b c\r\n--b--`,
    `${part('a\r\n--bc')}--b--`,
    `${part('a\r\n--b ')}--b--`,
    `${part('a\n--b')}--b--`,
    `${part('a\n--b\n')}--b--`,
    `${part('\n--b--')}--b--`,
    `--b\r\n${head}a\n--b--`,
  ])('is told with its part: %j', (form) => {
    expect(fault(form)).toContain('part 1: must end before a line that is the boundary alone')
  })

  it.each(['--b\r\n', `--b\r\n${head.trim()}`, `--b\r\n${head.trim()}\r\n`])('has unended headers: %j', (form) => {
    expect(fault(form)).toContain('part 1: must have headers, and an empty line behind them')
  })
})

/** Bytes that count how many of them were looked at. */
function counted(bytes: Uint8Array): { readonly form: Uint8Array; readonly steps: () => number } {
  let steps = 0
  const form = new Proxy(bytes, {
    get(_, key) {
      if (key === 'length') return bytes.length
      if (key === 'subarray') {
        return (from: number, to: number) => {
          const piece = bytes.subarray(from, to)
          const indexOf = (byte: number, start: number) => {
            const found = Uint8Array.prototype.indexOf.call(piece, byte, start)
            steps += (found === -1 ? piece.length : found) - start + 1
            return found
          }
          return Object.assign(piece, { indexOf })
        }
      }
      steps += 1
      return Reflect.get(bytes, key)
    },
  })
  return { form, steps: () => steps }
}

describe('any form', () => {
  const boundaries = fc.stringMatching(/^[-ab]{1,5}$/)
  const drawn = (letters: readonly string[], maxLength: number) =>
    fc.array(fc.constantFrom(...letters), { maxLength }).map((drawn) => drawn.join(''))
  const contents = drawn(['-', 'a', 'b', '\r', '\n', '\r\n', '--', '\r\n--', '"', 'ä', '\0'], 30)
  const letters = ['a', 'ä', '文', '"', ';', ' ', '\r', '\n', '=', '.', '%', "'", '; filename=']
  const percent = (name: string) => name.replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  const writers = [
    { names: drawn([...letters, '\\'], 8), written: (name: string) => percent(name).replaceAll('"', '%22') },
    { names: drawn(letters, 8), written: (name: string) => percent(name).replaceAll('"', '\\"') },
  ]

  it.each(writers)('is read as it was written, by browsers and by curl', ({ names, written }) => {
    const fileName = fc.option(names, { nil: undefined })
    const parts = fc.array(fc.record({ name: names, fileName, content: contents }), { maxLength: 4 })
    const property = fc.property(boundaries, parts, fc.constantFrom('', '\r\n'), (boundary, parts, end) => {
      fc.pre(parts.every(({ content }) => !`\n${content}\r\n-`.includes(`\n--${boundary}`)))
      const form = parts.map(({ name, fileName, content }) => {
        const file = fileName === undefined ? '' : `; filename="${written(fileName)}"\r\nContent-Type: text/plain`
        return `--${boundary}\r\nContent-Disposition: form-data; name="${written(name)}"${file}\r\n\r\n${content}\r\n`
      })
      const read = formParts(bytesOf(`${form.join('')}--${boundary}--${end}`), boundary, parts.length)

      expect(read.map(({ bytes, ...names }) => ({ ...names, content: textOf(bytes) }))).toEqual(parts)
    })
    fc.assert(property, { numRuns: casesOr(2_000) })
  })

  it('is read or refused, whatever its bytes are, and each byte is looked at a few times', () => {
    const pieces = ['--b', '\r\n--b', '\n', '\r\n', '--', head, head.slice(0, -4), '"', '\\"', '; filename=', 'a', 'ä']
    const noise = fc.uint8Array({ maxLength: 20 }).map((bytes) => String.fromCharCode(...bytes))
    const forms = fc.array(fc.oneof(fc.constantFrom(...pieces), noise), { maxLength: 30 })
    const property = fc.property(forms, fc.boolean(), (sent, isBegun) => {
      const bytes = bytesOf(`${isBegun ? `--b\r\n${head}` : ''}${sent.join('')}`)
      const { form, steps } = counted(bytes)
      faultOf(() => formParts(form, 'b', 5))

      expect(steps()).toBeLessThan(8 * bytes.length + 100)
    })
    fc.assert(property, { numRuns: casesOr(5_000) })
  })

  const long = `${'-'.repeat(35)}x${'-'.repeat(34)}`

  it.each([
    ['\r\n', 'b'],
    ['\n', 'b'],
    ['\r', 'b'],
    ['-', long],
    ['\n-', long],
    [`\n--${'-'.repeat(35)}`, long],
    [`\r\n--${long.slice(0, -1)}`, long],
    ['\n--bc', 'b'],
    ['a', 'a'.repeat(70)],
    ['\na', 'a'.repeat(70)],
  ])('full of %j is read in few steps', (text, boundary) => {
    const content = `${text.repeat(Math.ceil(200_000 / text.length))}.`
    const bytes = bytesOf(`${part(content, boundary)}--${boundary}--`)
    const { form, steps } = counted(bytes)

    expect(formParts(form, boundary, 1)).toHaveLength(1)
    expect(steps()).toBeLessThan(5 * bytes.length)
  })
})
