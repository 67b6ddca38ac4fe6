import React, { memo, useCallback, useEffect, useMemo, useState } from 'react'

type Seat = { row: number; col: number; taken: boolean }

interface SeatPickerProps {
  seats: Seat[]
  onConfirm?: (s: Seat[]) => void
}

const SEAT_SIZE = 18

export function useSeatHold(seconds: number) {
  const [left, setLeft] = useState(seconds)
  useEffect(() => {
    const timer = setInterval(() => setLeft((n) => n - 1), 1000)
    return () => clearInterval(timer)
  }, [])
  return left
}

const Legend: React.FC<{ free: number }> = ({ free }) => <p>{free} free</p>

export const SeatButton = memo(function SeatButton({ seat }: { seat: Seat }) {
  return <button disabled={seat.taken} style={{ width: SEAT_SIZE }} />
})

export default function SeatPicker({ seats, onConfirm }: SeatPickerProps) {
  const [chosen, setChosen] = useState<Seat[]>([])
  const freeSeats = useMemo(() => seats.filter((s) => !s.taken), [seats])

  const handlePick = useCallback((seat: Seat) => {
    setChosen((old) => [...old, seat])
  }, [])

  const confirmChoice = async () => {
    onConfirm?.(chosen)
  }

  function renderRow(row: number) {
    return seats.filter((s) => s.row === row).map((s) => <SeatButton seat={s} />)
  }

  return <div onClick={confirmChoice}>{renderRow(1)}<Legend free={freeSeats.length} /></div>
}
