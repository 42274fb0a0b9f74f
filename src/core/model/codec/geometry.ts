/** Geometries as GeoJSON. */
import { parseJson } from '../../exact-json.ts'
import { isObject } from '../../json-object.ts'
import type { Decoded, Fault } from './decoded.ts'

/** Numbers that were kept as texts are numbers here. */
export function decodeGeometry(text: string): Decoded {
  return isGeometry(parseJson(text), 0) ? { ok: text } : notGeometry
}

/** RFC 7946 without foreign members: databases treat them (`crs`) differently. */
function isGeometry(value: unknown, depth: number): boolean {
  if (!isObject(value)) return false
  const members = new Map<string, unknown>(Object.entries(value))
  if (members.size !== 2) return false
  const coordinates = members.get('coordinates')
  switch (members.get('type')) {
    case 'Point':
      return isPosition(coordinates)
    case 'MultiPoint':
      return isArrayOf(coordinates, isPosition)
    case 'LineString':
      return isLine(coordinates)
    case 'MultiLineString':
      return isArrayOf(coordinates, isLine)
    case 'Polygon':
      return isPolygon(coordinates)
    case 'MultiPolygon':
      return isArrayOf(coordinates, isPolygon)
    case 'GeometryCollection':
      if (depth === MAX_COLLECTION_DEPTH) return false
      return isArrayOf(members.get('geometries'), (geometry) => isGeometry(geometry, depth + 1))
    default:
      return false
  }
}

const MAX_COLLECTION_DEPTH = 8

function isPolygon(value: unknown): boolean {
  return isArrayOf(value, isRing)
}

function isRing(value: unknown): boolean {
  if (!isLine(value) || value.length < 4) return false
  const first = value[0]
  const last = value[value.length - 1]
  return first?.length === last?.length && first?.every((number, index) => number === last?.[index]) === true
}

function isLine(value: unknown): value is readonly Position[] {
  return isArrayOf(value, isPosition) && value.length >= 2
}

type Position = readonly number[]

function isPosition(value: unknown): value is Position {
  return isArrayOf(value, Number.isFinite) && (value.length === 2 || value.length === 3)
}

function isArrayOf(value: unknown, isElement: (element: unknown) => boolean): value is readonly unknown[] {
  return Array.isArray(value) && value.every((element) => isElement(element))
}

export const notGeometry: Fault = {
  fault: 'must be a GeoJSON geometry: an object of type and coordinates or geometries',
}
