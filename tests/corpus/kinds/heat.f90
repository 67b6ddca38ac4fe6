module heat_solver
  implicit none
  integer, parameter :: dp = kind(1.0d0)

  type :: rod_t
    real(dp) :: length
    real(dp), allocatable :: temp(:)
  contains
    procedure :: step => rod_step
  end type rod_t

  interface norm
    module procedure norm_l2
  end interface norm

contains

  subroutine rod_step(self, dt)
    class(rod_t), intent(inout) :: self
    real(dp), intent(in) :: dt
    self%temp = self%temp * (1.0_dp - dt)
  end subroutine rod_step

  pure real(dp) function norm_l2(v) result(n)
    real(dp), intent(in) :: v(:)
    n = sqrt(sum(v**2))
  end function norm_l2

  elemental function to_kelvin(c)
    real(dp), intent(in) :: c
    real(dp) :: to_kelvin
    to_kelvin = c + 273.15_dp
  end function
end module heat_solver

program main_heat
  use heat_solver
  print *, to_kelvin(20.0_dp)
end program main_heat
