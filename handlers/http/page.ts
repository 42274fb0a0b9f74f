/**
 * The headers of pages, which have no inline scripts, submit no forms, are not framed, and ask no other origin.
 */

const directives = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
  'media-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
}

/** `exceptions` replace directives of the content security policy. */
export function pageHeaders(exceptions: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': Object.entries({ ...directives, ...exceptions })
      .map((directive) => directive.join(' '))
      .join('; '),
    'Referrer-Policy': 'no-referrer',
  }
}
