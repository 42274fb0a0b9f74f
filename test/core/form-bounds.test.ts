/** docs/contract.md#files: what a form of files may be, before anything is made of it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formBoundary, formBounds } from '../../src/core/assets/form-bounds.ts'
import { messagesOf, type ServiceError } from '../../src/core/error.ts'

/** The chain of messages of what was thrown, and undefined of what was not. */
function faultOf(act: () => unknown): string | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    return messagesOf(error as ServiceError).join(': ')
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

describe('the bounds of a form', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const head = 'Content-Disposition: form-data; name="f"; filename="a"\r\n\r\n'

  const part = (text: string, boundary = 'b') => `--${boundary}\r\n${head}${text}\r\n`
  const fault = (text: string, { boundary = 'b', most = 10, size = text.length } = {}) =>
    faultOf(() => {
      const { take, end } = formBounds(boundary, most)
      for (let from = 0; from < text.length; from += size) take(bytes(text.slice(from, from + size)))
      end()
    })

  it('count its parts as they come, in whatever pieces', () => {
    const boundaries = fc.stringMatching(/^[-ab]{1,5}$/)
    const texts = fc.array(fc.constantFrom('-', 'a', 'b', '\r\n', '\n', '--').map(String), { maxLength: 20 })
    const forms = fc.property(
      boundaries,
      fc.array(
        texts.map((letters) => letters.join('')),
        { minLength: 1, maxLength: 4 },
      ),
      fc.integer({ min: 1, max: 7 }),
      (boundary, contents, size) => {
        fc.pre(contents.every((text) => !`${text}\r\n-`.includes(`--${boundary}`)))
        const form = `${contents.map((text) => part(text, boundary)).join('')}--${boundary}--`
        const count = contents.length

        expect(fault(form, { boundary, most: count, size })).toBeUndefined()
        expect(fault(`${form}\r\n`, { boundary, most: count, size })).toBeUndefined()
        expect(fault(form, { boundary, most: count - 1, size })).toContain(`has more than ${count - 1} files`)
      },
    )
    fc.assert(forms)
  })

  it.each([
    '',
    '--b',
    '--b-',
    '--b\r\n',
    part('a'),
    `${part('a')}--b`,
    `${part('a')}--b- `,
    `${part('a')}--b--\n`,
    `${part('a')}--b--\r\n\r\n`,
    `${part('a')}--b--more`,
    `more\r\n${part('a')}--b--`,
    `\r\n${part('a')}--b--`,
    `--b \r\n${head}a\r\n--b--`,
    `--b\n${head}a\r\n--b--`,
    `--b\r\n${head.replace('\r\n\r\n', '\n\n')}a\r\n--b--`,
    `--b\r\nX: a\n${head}a\r\n--b--`,
    `--b\r\nX: a\rb\r\n${head}a\r\n--b--`,
    `--b\r\n${head}--b--`,
    `${part('a --b c')}--b--`,
    `${part('a\n--b c')}--b--`,
    `${part('a\r\n--bc')}--b--`,
    `--b\r\n${head}a\n--b--`,
  ])('refuse what parsers read in several ways: %j', (form) => {
    expect(fault(form)).toContain('body: is no form of multipart/form-data')
  })

  it('look at each byte once, whatever the boundary is', () => {
    const boundary = `${'-'.repeat(35)}x${'-'.repeat(34)}`

    expect(fault(`${part('-'.repeat(8_000_000), boundary)}--${boundary}--`, { boundary })).toBeUndefined()
  })

  it('are few bytes of headers for each part', () => {
    const form = (disposition: string) => `--b\r\n${disposition}\r\n\r\ntext\r\n${part('text')}--b--\r\n`

    expect(fault(form(`X: ${'a'.repeat(4000)}`))).toBeUndefined()
    expect(fault(form('X: a\r\n'.repeat(1000).trim()))).toContain('headers are longer than 4 KiB')
    expect(fault(`${part('text'.repeat(10_000))}--b--\r\n`)).toBeUndefined()
  })
})
