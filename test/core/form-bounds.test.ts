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

  it('count its parts as they come, in whatever pieces', () => {
    const letters = fc.constantFrom('-', 'a', 'b', '\r\n', '\r\n\r\n', '--')
    const forms = fc.property(
      fc.array(fc.constantFrom('-', 'a', 'b'), { minLength: 1, maxLength: 5 }),
      fc.array(letters, { maxLength: 60 }),
      fc.integer({ min: 1, max: 7 }),
      (boundary, body, size) => {
        const text = body.join('')
        const parts = text.split(`--${boundary.join('')}`).length - 2
        const check = (most: number) => () => {
          const take = formBounds(boundary.join(''), most)
          for (let at = 0; at < text.length; at += size) take(bytes(text.slice(at, at + size)))
        }
        if (parts >= 0) expect(faultOf(check(parts))).toBeUndefined()
        if (parts >= 1) expect(faultOf(check(parts - 1))).toContain(`has more than ${parts - 1} files`)
      },
    )
    fc.assert(forms)
  })

  it('look at each byte once, whatever the boundary is', () => {
    const check = formBounds(`${'-'.repeat(35)}x${'-'.repeat(34)}`, 10)

    expect(faultOf(() => check(bytes(`${'-'.repeat(8_000_000)}\r\n\r\n`)))).toBeUndefined()
  })

  it('are few bytes of headers for each part', () => {
    const form = (disposition: string) => bytes(`--b\r\n${disposition}\r\n\r\ntext\r\n--b\r\n${head}text\r\n--b--\r\n`)

    expect(faultOf(() => formBounds('b', 2)(form(`X: ${'a'.repeat(4000)}`)))).toBeUndefined()
    expect(faultOf(() => formBounds('b', 2)(form('X: a\r\n'.repeat(1000))))).toContain('headers are longer than 4 KiB')
    expect(
      faultOf(() => formBounds('b', 2)(bytes(`--b\r\n${head}${'text'.repeat(10_000)}\r\n--b--\r\n`))),
    ).toBeUndefined()
  })
})
