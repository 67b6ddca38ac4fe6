require 'json'

class Rig
  STATES = %i[idle hoisting].freeze
  SAILS = { jib: 1, main: 2 }.freeze

  attr_accessor :skipper, :crew

  STATES.each do |s|
    define_method("#{s}?") { @state == s }
  end

  define_method(:hoist_all) do |speed = 1|
    SAILS.each_key { |k| hoist(k, speed) }
  end

  define_method :lower_all do
    @state = :idle
  end

  class << self
    def from_json(text)
      new(**JSON.parse(text))
    end
  end

  alias_method :raise_all, :hoist_all
  delegate :name, to: :skipper
  scope :racing, -> { where(racing: true) }

  Reef = Struct.new(:level, :sail) do
    def deep? = level > 2
  end

  private def hoist(sail, speed)
    @state = :hoisting
  end
end
