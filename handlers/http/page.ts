/** The headers of pages. None has inline scripts, sends a form by itself, stands in a frame or asks another origin. */

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

/** `exceptions`: directives of the security policy that a page needs otherwise, in place of the common ones. */
export function pageHeaders(exceptions: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': Object.entries({ ...directives, ...exceptions })
      .map((directive) => directive.join(' '))
      .join('; '),
    'Referrer-Policy': 'no-referrer',
  }
}
